"""Tax codes on documents, and their reversal by credits, refunds and write-offs."""

from collections import Counter
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from accounting.books.ledger import Split, TaxMark, TaxPart
from accounting.tax.codes import Direction, Rate, TaxCode, TaxCodes, Treatment
from accounting.trade import documents
from accounting.trade.commands import TaxGiven
from accounting.trade.line_items import by_code
from accounting.trade.refunds import GivenBackLine
from accounting.trade.remaining_by_line import parts_left
from accounting.trade.sides import PAYABLE, RECEIVABLE
from tests.accounting.samples import account_id, code_of, day, moment, named, refused
from tests.accounting.tax.test_codes import code_of as tax_code
from tests.accounting.trade.business import Trade, credit_line, line

IN, OUT, HELD = (account_id(code) for code in ("1300", "2200", "1310"))


def rate(percent: str, recovered: str = "100", **days: date) -> Rate:
    return Rate(Decimal(percent), Decimal(recovered), **days)


def bought(name: str, treatment: Treatment, *rates: Rate) -> TaxCode:
    made = tax_code(name, *rates, direction=Direction.PURCHASES, treatment=treatment)
    return replace(made, tax_account_id=IN)


SEVENTH = day("7")
MOVING = (rate("20", valid_to=day("6")), rate("10", valid_from=SEVENTH))
CODES = TaxCodes(
    (
        tax_code("S20", rate("20"), is_default=True),
        tax_code("S0", rate("0"), treatment=Treatment.ZERO),
        tax_code("S21", rate("21")),
        tax_code("MOVES", *MOVING),
        tax_code("GONE", rate("5"), archived_at=day("1")),
        replace(tax_code("W15", rate("15"), treatment=Treatment.WITHHOLDING), tax_account_id=HELD),
        bought("P20", Treatment.STANDARD, rate("20")),
        bought("PH", Treatment.STANDARD, rate("10", "50")),
        bought("PR20", Treatment.REVERSE_CHARGE, rate("20")),
        bought("PR60", Treatment.REVERSE_CHARGE, rate("20", "60")),
    )
)


def selling(today: str = "5") -> Trade:
    return Trade(today, codes=CODES)


def buying(today: str = "5") -> Trade:
    return Trade(today, side=PAYABLE, codes=CODES)


@pytest.fixture
def trade() -> Trade:
    return selling()


def coded(amount: int, code: str, **facts: Any) -> Any:
    return line(amount, tax_code=code, **facts)


def marked(account: UUID, tax: TaxMark | None) -> str:
    """Return `4000 net`: an account and its part in a return, or the account alone."""
    return code_of(account) if tax is None else f"{code_of(account)} {tax.part}"


def amounts_of(split: Split) -> dict[str, int]:
    """Return the amounts of a split by account and part."""
    said: Counter[str] = Counter()
    for part, amount in split:
        said[marked(part.account_id, part.tax)] += amount
    return dict(said)


def lines_of(trade: Trade, id_: UUID) -> list[dict[str, int]]:
    """Return the posted amounts of a subject by account and part, entry by entry."""
    posted = []
    for entry in trade.posted(id_):
        said: Counter[str] = Counter()
        for each in entry.lines:
            said[marked(each.account_id, each.tax)] += each.amount
        posted.append(dict(said))
    return posted


def credit_of_line(trade: Trade, source: UUID, net: int, place: int = 0, **facts: Any) -> UUID:
    """Credit an amount of a line of a document; return the credit's id."""
    wanted = credit_line(net, source_line_id=trade.documents[source].lines[place].id)
    return trade.credit(wanted, source_document_id=source, **facts)


class TestPosting:
    def test_each_line_says_by_which_code_it_is_taxed(self, trade: Trade) -> None:
        id_ = trade.document(coded(10_000, "S20"), coded(5_000, "S0"))
        sums = {"1200": 17_000, "4000 net": -15_000, "2200 output": -2_000}
        assert lines_of(trade, id_) == [sums]
        marks = {each.tax.code_id for each in trade.posted(id_)[0].lines if each.tax}
        assert marks == {CODES.codes[0].id, CODES.codes[1].id}

    def test_a_rate_alone_means_the_code_that_has_it(self, trade: Trade) -> None:
        id_ = trade.document(line(1_000, tax_rate=20), line(1_000, tax_rate=19))
        nets = {"1200": 2_390, "4000 net": -1_000, "4000": -1_000}
        assert lines_of(trade, id_) == [{**nets, "2200 output": -200, "2200": -190}]

    def test_tax_is_posted_as_recoverable_or_as_given(self) -> None:
        trade = buying()
        half = trade.document(coded(1_000, "PH"))
        sums = {"2000": -1_100, "6000 net": 1_000, "1300 input": 50, "6000 blocked": 50}
        assert lines_of(trade, half) == [sums]
        given = trade.document(line(1_000, taxes=(TaxGiven(199, tax_code="P20"),)))
        assert lines_of(trade, given)[0] == {"2000": -1_199, "6000 net": 1_000, "1300 input": 199}

    def test_self_assessed_tax_is_posted_in_a_separate_entry(self) -> None:
        trade = buying()
        id_ = trade.document(coded(1_000, "PR20"))
        assert trade.documents[id_].total_amount == 1_000
        assessed = {"1300 input": 200, "2200 output": -200}
        assert lines_of(trade, id_) == [{"2000": -1_000, "6000 net": 1_000}, assessed]
        trade.void(id_)
        assert sum(entry.reversal_of_id is not None for entry in trade.posted(id_)) == 2

    def test_a_discount_on_the_whole_has_a_line_for_each_code(self, trade: Trade) -> None:
        id_ = trade.document(coded(10_000, "S20"), coded(5_000, "S0"), additional_discount=1_500)
        [entry] = trade.posted(id_)
        discounts = [each.amount for each in entry.lines if each.account_id == account_id("4200")]
        assert discounts == [1_000, 500]
        assert trade.documents[id_].tax_total == 1_800

    def test_prices_that_include_tax_are_shown_net(self, trade: Trade) -> None:
        id_ = trade.document(coded(603, "S20"), amounts_include_tax=True)
        made = trade.documents[id_]
        assert (made.subtotal, made.tax_total, made.total_amount) == (502, 101, 603)

    def test_withholding_lowers_the_total(self, trade: Trade) -> None:
        id_ = trade.document(coded(100_000, "S21", withholding_code="W15"))
        made = trade.documents[id_]
        assert (made.total_amount, documents.withheld(made)) == (106_000, 15_000)
        assert lines_of(trade, id_)[0]["1310 withheld"] == 15_000
        payment = trade.pay(53_000, (id_, 53_000))
        split = trade.payments[payment].allocations[0].split
        assert amounts_of(split) == {
            "4000 net": 50_000,
            "2200 output": 10_500,
            "1310 withheld": -7_500,
        }


class TestDrafts:
    def test_a_draft_is_worked_out_again_when_it_opens(self, trade: Trade) -> None:
        id_ = trade.document(
            coded(1_200, "MOVES"), additional_discount=120, opened_at=None, amounts_include_tax=True
        )
        assert trade.documents[id_].tax_total == 180
        trade.on("9").open(id_)
        opened = trade.documents[id_]
        assert (opened.total_amount, opened.tax_total) == (1_080, 98)
        assert opened.lines[0].tax_rate == 10

    @pytest.mark.parametrize(("drafted", "opened"), [("5", "9"), ("9", "5")])
    def test_a_rate_alone_means_the_code_of_its_day(self, drafted: str, opened: str) -> None:
        trade = selling(drafted)
        id_ = trade.document(line(100, tax_rate=Decimal(10)), opened_at=None)
        [after] = trade.documents[trade.on(opened).open(id_)].lines
        assert (after.tax_total, after.tax_rate) == (10, 10)
        assert (after.tax_code_id is None) == (opened == "5")

    def test_given_tax_stays_when_it_opens(self) -> None:
        trade = buying()
        taxes = (TaxGiven(7, tax_code="PH"), TaxGiven(3))
        id_ = trade.document(line(100, taxes=taxes), opened_at=None)
        before = trade.documents[id_].lines
        assert trade.documents[trade.open(id_)].lines == before


class TestCredits:
    def test_nets_of_a_line_close_its_tax_exactly(self, trade: Trade) -> None:
        source = trade.document(coded(10_000, "S20"))
        made = [credit_of_line(trade, source, net) for net in (3_333, 3_333, 3_334)]
        assert [trade.credits[each].tax_total for each in made] == [667, 666, 667]
        accounts = {trade.credits[each].lines[0].account_id for each in made}
        assert accounts == {account_id("4000")}
        assert not any(parts_left(trade.documents[source]).values())

    def test_no_more_than_is_left_of_a_line_is_credited(self, trade: Trade) -> None:
        source = trade.document(coded(100, "S20"))
        first = credit_of_line(trade, source, 60)
        refusal = refused(credit_of_line, trade, source, 60)
        assert (refusal.code, refusal.detail["left"]) == ("credit_exceeds_source", 40)
        trade.void_credit(first)
        credit_of_line(trade, source, 60)

    def test_a_draft_takes_nothing_until_it_is_sent(self, trade: Trade) -> None:
        source = trade.document(coded(100, "S20"))
        draft = credit_of_line(trade, source, 60, opened_at=None)
        assert trade.documents[source].reduced == ()
        credit_of_line(trade, source, 50)
        refusal = refused(trade.change_credit, draft, opened_at=trade.context().now)
        assert refusal.code == "credit_exceeds_source"

    def test_a_credit_applied_to_its_source_settles_its_own_parts(self, trade: Trade) -> None:
        source = trade.document(coded(10_000, "S20"), coded(5_000, "S0"))
        id_ = credit_of_line(trade, source, 5_000, 1, to=[(source, 5_000)])
        [allocation] = trade.credits[id_].allocations
        assert amounts_of(allocation.split) == {"4000 net": 5_000}
        assert allocation.split[0][0].tax == trade.documents[source].lines[1].net_mark

    def test_a_code_works_its_tax_out(self, trade: Trade) -> None:
        id_ = trade.credit(credit_line(1_000, tax_code="S20"), credit_line(50, 7))
        assert (trade.credits[id_].tax_total, trade.credits[id_].total_amount) == (207, 1_257)
        sums = {"4100 net": 1_000, "4100": 50, "2200 output": 200, "2200": 7, "2250": -1_257}
        assert lines_of(trade, id_) == [sums]

    def test_a_line_of_what_is_self_assessed_takes_that_back_too(self) -> None:
        trade = buying()
        id_ = credit_of_line(trade, trade.document(coded(1_000, "PR20")), 400)
        assert lines_of(trade, id_)[1] == {"1300 input": -80, "2200 output": 80}

    def test_self_assessed_tax_credited_in_three_parts_balances_at_each_step(self) -> None:
        trade = buying()
        source = trade.document(coded(997, "PR60"))
        taken: Counter[str] = Counter()
        for net in (333, 334, 330):
            assessed = lines_of(trade, credit_of_line(trade, source, net))[1]
            assert sum(assessed.values()) == 0
            taken.update(assessed)
        assert taken == {"2200 output": 199, "1300 input": -119, "6000 blocked": -80}

    def test_tax_that_is_recovered_in_part_is_rounded_once(self) -> None:
        trade = buying()
        id_ = credit_of_line(trade, trade.document(coded(20, "PH")), 10)
        assert trade.credits[id_].tax_total == 1

    def test_tax_on_the_account_of_its_line_is_tax(self, trade: Trade) -> None:
        taxes = (TaxGiven(1, account=named("4500")), TaxGiven(1))
        source = trade.document(line(1_000, account=named("4500"), taxes=taxes))
        id_ = credit_of_line(trade, source, 500)
        assert lines_of(trade, id_) == [{"4500": 501, "2250": -501}]
        assert trade.credits[id_].tax_total == 1


class TestRefunds:
    def test_lines_are_given_back_with_their_tax(self, trade: Trade) -> None:
        id_, _ = trade.paid_document(coded(10_000, "S20"), coded(5_000, "S0"))
        zero = trade.documents[id_].lines[1]
        refund = trade.refund(id_, lines=(GivenBackLine(zero.id, 2_000),))
        assert lines_of(trade, refund) == [{"2300": -2_000, "4100 net": 2_000}]

    def test_without_lines_it_is_split_over_what_is_left(self, trade: Trade) -> None:
        id_, _ = trade.paid_document(coded(10_000, "S20"), coded(5_000, "S0"))
        whole = GivenBackLine(trade.documents[id_].lines[1].id, 5_000)
        trade.refund(id_, lines=(whole,))
        refund = trade.refund(id_, 6_000)
        split = {"2300": -6_000, "4100 net": 5_000, "2200 output": 1_000}
        assert lines_of(trade, refund) == [split]
        trade.cancel_refund(refund)
        refusal = refused(trade.refund, id_, lines=(replace(whole, amount=1),))
        assert refusal.code == "refund_exceeds_refundable"

    @pytest.mark.parametrize(
        ("amounts", "code"), [((60, 60), "validation_error"), ((50,), "lines_do_not_add_up")]
    )
    def test_lines_stand_once_and_come_to_the_amount(
        self, trade: Trade, amounts: tuple[int, ...], code: str
    ) -> None:
        id_, _ = trade.paid_document(coded(10_000, "S20"))
        line_id = trade.documents[id_].lines[0].id
        lines = tuple(GivenBackLine(line_id, each, f"lines.{each}") for each in amounts)
        assert refused(trade.refund, id_, 120, lines=lines).code == code

    def test_a_credit_of_lines_leaves_less_to_refund(self, trade: Trade) -> None:
        id_, _ = trade.paid_document(coded(1_000, "S20"))
        credit_of_line(trade, id_, 400)
        assert refused(trade.refund, id_, 721).detail["refundable"] == 720
        trade.refund(id_, 720)
        assert refused(trade.refund, id_, 480).detail["refundable"] == 0


class TestWriteOffs:
    def test_relief_takes_the_share_of_tax_back(self, trade: Trade) -> None:
        id_ = trade.document(coded(100, "S20"))
        trade.pay(60, (id_, 60))
        write_off = trade.write_off(id_, tax_relief=True)
        relieved = {"1200": -60, "6200 relief_net": 50, "2200 relief": 10}
        assert lines_of(trade, write_off) == [relieved]
        trade.reverse(write_off)
        assert trade.documents[id_].reduced == ()

    @pytest.mark.parametrize(("credited", "relief"), [(0, False), (100, True)])
    def test_all_is_given_up_without_relief(
        self, trade: Trade, credited: int, relief: bool
    ) -> None:
        """Post no relief when it is not requested, or when credits have taken all tax."""
        id_ = trade.document(coded(100, "S20"))
        if credited:
            credit_of_line(trade, id_, credited)
        write_off = trade.write_off(id_, tax_relief=relief)
        assert lines_of(trade, write_off) == [{"1200": -120, "6200": 120}]

    def test_the_withheld_share_is_always_taken_back(self, trade: Trade) -> None:
        id_ = trade.document(coded(100_000, "S21", withholding_code="W15"))
        write_off = trade.write_off(id_)
        taken_back = {"1200": -106_000, "6200": 121_000, "1310 withheld": -15_000}
        assert lines_of(trade, write_off) == [taken_back]


class TestRefusals:
    @pytest.mark.parametrize(
        ("facts", "code"),
        [
            ({"tax_code": "NONE"}, "reference_not_found"),
            ({"tax_code": "GONE"}, "tax_code_archived"),
            ({"tax_code": "P20"}, "tax_code_mismatch"),
            ({"tax_code": "W15"}, "tax_code_mismatch"),
            ({"withholding_code": "S20"}, "tax_code_mismatch"),
        ],
    )
    def test_a_code_of_a_line_is_usable(self, facts: dict[str, str], code: str) -> None:
        refusal = refused(selling().document, line(100, **facts))
        assert (refusal.code, refusal.detail["item"]) == (code, "lines.0")

    def test_a_day_without_a_rate_is_told(self) -> None:
        codes = TaxCodes((tax_code("S20", rate("20", valid_from=day("9"))),))
        trade = Trade("5", side=RECEIVABLE, codes=codes)
        assert refused(trade.document, coded(100, "S20")).code == "tax_rate_missing"

    def test_a_document_whose_lines_are_credited_is_not_edited(self, trade: Trade) -> None:
        source = trade.document(coded(100, "S20"))
        credit_of_line(trade, source, 60)
        refusal = refused(trade.void, source)
        assert (refusal.code, refusal.detail["credited"]) == ("invoice_has_allocations", 60)


def test_parts_of_a_taxed_document_are_what_returns_tell_apart(trade: Trade) -> None:
    id_ = trade.document(coded(10_000, "S20"), coded(5_000, "S0"))
    payment = trade.pay(6_000, (id_, 6_000))
    split = trade.payments[payment].allocations[0].split
    by_part = {(p.tax.rate, p.tax.part): amount for p, amount in split if p.tax is not None}
    assert by_part == {
        (Decimal(20), TaxPart.NET): 3_529,
        (Decimal(0), TaxPart.NET): 1_765,
        (Decimal(20), TaxPart.OUTPUT): 706,
    }


NAMES = {each.id: each.code for each in CODES.codes}


def totals(
    trade: Trade, *lines: Any, **facts: Any
) -> list[tuple[str | None, str | None, int, int]]:
    """Return the code, rate, net and tax of each total."""
    document = trade.documents[trade.document(*lines, **facts)]
    found = by_code(document)
    assert sum(each.tax for each in found) == document.tax_total
    rates = [None if each.rate is None else str(Decimal(each.rate)) for each in found]
    names = [NAMES[each.code_id] if each.code_id else None for each in found]
    return [(name, rate, e.net, e.tax) for name, rate, e in zip(names, rates, found, strict=True)]


class TestByCode:
    def test_sums_up_lines_of_one_code_and_rate(self) -> None:
        lines = (coded(1_000, "S20"), coded(100, "S0"), coded(500, "S20"))
        assert totals(selling(), *lines) == [("S20", "20", 1_500, 300), ("S0", "0", 100, 0)]

    def test_takes_its_share_of_a_discount_off_each_net(self) -> None:
        lines = (coded(10_000, "S20"), coded(5_000, "S0"))
        assert totals(selling(), *lines, additional_discount=1_500) == [
            ("S20", "20", 9_000, 1_800),
            ("S0", "0", 4_500, 0),
        ]

    def test_tells_a_rate_without_a_code_and_leaves_out_what_is_not_taxed(self) -> None:
        lines = (line(1_000, tax_rate=19), line(700))
        assert totals(selling(), *lines) == [(None, "19", 1_000, 190)]

    def test_tells_what_is_charged_with_what_is_not_recovered(self) -> None:
        assert totals(buying(), coded(1_000, "PR20")) == [("PR20", "20", 1_000, 0)]
        assert totals(buying(), coded(1_000, "PH")) == [("PH", "10", 1_000, 100)]

    def test_tells_given_taxes_by_their_own_codes_on_the_same_net(self) -> None:
        taxes = (TaxGiven(150, tax_code="S20"), TaxGiven(20, tax_code="S21"), TaxGiven(7))
        assert totals(selling(), line(1_000, taxes=taxes)) == [
            ("S20", "20", 1_000, 150),
            ("S21", "21", 1_000, 20),
            (None, None, 1_000, 7),
        ]


@pytest.mark.parametrize(
    ("facts", "rate"),
    [
        ({"opened_at": moment("8")}, "10"),
        ({"opened_at": moment("8"), "issue_date": day("6")}, "20"),
        ({"opened_at": moment("8"), "issue_date": day("8"), "delivery_date": day("6")}, "20"),
        ({"opened_at": moment("5"), "delivery_date": day("7")}, "10"),
        ({"opened_at": None, "delivery_date": day("6")}, "20"),
    ],
)
def test_the_rate_is_that_of_the_delivery_else_of_the_day_in_the_books(
    facts: Any, rate: str
) -> None:
    trade = selling("9")
    id_ = trade.document(coded(100, "MOVES"), **facts)
    assert trade.documents[id_].lines[0].tax_rate == Decimal(rate)
    if facts["opened_at"] is None:
        trade.open(id_, "9")
        assert trade.documents[id_].lines[0].tax_rate == Decimal(rate)
    trade.replace(id_, coded(100, "MOVES"))
    assert trade.documents[id_].lines[0].tax_rate == Decimal(rate)
    trade.replace(id_, coded(100, "MOVES"), delivery_date=day("7"))
    assert trade.documents[id_].lines[0].tax_rate == Decimal("10")
