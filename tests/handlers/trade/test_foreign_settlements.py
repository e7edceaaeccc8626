"""Invoices, bills, payments, credits and refunds in foreign currencies.

The examples are those of the rules, in pounds: a document of USD 100.00 at 0.90 is worth 90.00.
"""

from typing import Any

import pytest

from tests.builders.exchange_rates import table_set
from tests.builders.sales import REFUNDS, refund_paid, refunded
from tests.builders.trade import DAY, PAID, PURCHASES, SALES, SENT, Record, line, read
from tests.builders.vendor_refunds import REFUNDS as VENDOR_REFUNDS
from tests.builders.vendor_refunds import as_credit, of_bill, whole_refund_body
from tests.handlers.trade.side import Side
from tests.partner import Business

GAINS, LOSSES = "4650", "7050"
TABLED = "2025-05-05"
USD: Record = {"currency": "USD"}
BASE = ("exchange_rate", "base_total_amount_cents", "base_outstanding_cents")


def shown(record: Record, *names: str) -> tuple[Any, ...]:
    return tuple(record[name] for name in names)


class Foreign:
    """A document of USD 100.00 at 0.90, and the money that settles it."""

    def document(self, side: Side, **facts: Any) -> Record:
        return side.open(10_000, **{**USD, "exchange_rate": 0.9, **facts})

    def money(
        self, side: Side, *parts: tuple[Record, int], rate: Any = 0.95, **facts: Any
    ) -> Record:
        shares = [side.trade.part(document, amount) for document, amount in parts]
        total = facts.pop("total", sum(amount for _, amount in parts))
        return side.pay(total, *shares, **{**USD, "exchange_rate": rate, **facts})

    def exchanged(self, side: Side, difference: int) -> Record:
        """Return the posted difference of an exchange: a gain above zero."""
        return {GAINS: -difference} if difference > 0 else {LOSSES: -difference}

    def posted(self, side: Side, brought: int, settled: int) -> Record:
        gained = side.trade.sign * (brought - settled)
        amounts = side.trade.signed({"1100": brought, side.trade.control: -settled})
        return amounts | (self.exchanged(side, gained) if gained else {})

    def test_a_document_is_posted_in_base(self, side: Side) -> None:
        document = self.document(side)
        assert shown(document, *BASE, "base_tax_total_cents") == (0.9, 9_000, 9_000, 0)
        assert shown(document, "currency", "total_amount") == ("USD", 10_000)
        assert side.read(document) == document
        assert side.ledger.postings(document) == [(DAY, side.trade.posted(9_000))]

    def test_the_tax_is_in_base_too(self, side: Side) -> None:
        side = side.with_new_party()
        rate = {**USD, "exchange_rate": 0.91234}
        document = side.open(line_items=[line(10_000, tax_rate=20)], **rate)
        taxed = {"amount": 10_000, "tax_amount": 2_000}
        credit = side.credit(12_000, line_items=[taxed], **rate)
        names = ("tax_total", "base_tax_total_cents", "base_total_amount_cents")
        for path, record in ((side.trade.path, document), (side.trade.credits, credit)):
            party = {f"{side.trade.party}_id": side.counterparty["id"]}
            [listed] = side.api.get(path, params=party).json()["results"]
            alone = side.api.get(f"{path}{record['id']}/").json()
            for each in (record, listed, alone):
                assert shown(each, *names) == (2_000, 1_825, 10_948)

    def test_a_payment_at_another_rate_gains_or_loses(self, side: Side) -> None:
        document = self.document(side)
        payment = self.money(side, (document, 10_000))
        gained = side.trade.sign * 500
        assert shown(payment, "exchange_rate", "base_amount_cents") == (0.95, 9_500)
        [part] = payment["allocations"]
        assert shown(part, "document_amount_cents", "exchange_difference_cents") == (10_000, gained)
        [share] = side.read(document)[side.trade.payment_allocations]
        names = ("amount_cents", "payment_amount_cents", "exchange_difference_cents")
        assert shown(share, *names) == (10_000, 10_000, gained)
        assert shown(side.read(document), "status", "base_outstanding_cents") == ("paid", 0)
        assert side.ledger.postings(payment) == [(PAID, self.posted(side, 9_500, 9_000))]

    def test_steps_take_all_of_the_base(self, side: Side) -> None:
        document = self.document(side)
        first = self.money(side, (document, 3_333))
        second = self.money(side, (document, 6_667), rate="0.88")
        assert side.ledger.postings(first) == [(PAID, self.posted(side, 3_166, 3_000))]
        assert side.ledger.postings(second) == [(PAID, self.posted(side, 5_867, 6_000))]
        side.change(first, status="failed", status_date="2025-03-12")
        assert shown(side.read(document), *BASE) == (0.9, 9_000, 3_000)
        again = self.money(side, (document, 3_333), rate=1.1)
        assert side.ledger.postings(again) == [(PAID, self.posted(side, 3_666, 3_000))]
        assert side.read(document)["base_outstanding_cents"] == 0

    def test_an_advance_gains_where_it_is_applied(self, side: Side) -> None:
        document, payment = self.document(side), self.money(side, total=10_000)
        parts = [side.trade.part(document, 10_000, allocation_date="2025-03-20")]
        side.change(payment, allocations=parts)
        advance = side.trade.signed({"1100": 9_500, side.trade.advance: -9_500})
        applied = side.trade.signed({side.trade.advance: 9_500, side.trade.control: -9_000})
        applied |= self.exchanged(side, side.trade.sign * 500)
        assert side.ledger.postings(payment) == [(PAID, advance), ("2025-03-20", applied)]

    def test_money_in_a_third_currency_names_both_amounts(self, side: Side) -> None:
        document = self.document(side)
        part = side.trade.part(document, 110_000)
        given = {"currency": "SEK", "exchange_rate": "0.0874"}
        body = side.payment_body(110_000, allocations=[part], **given)
        assert side.ledger.refused("POST", side.trade.payments, json=body) == (
            422,
            "currency_mismatch",
        )
        part["document_amount_cents"] = 10_000
        payment = side.pay(110_000, part, **given)
        assert side.ledger.postings(payment) == [(PAID, self.posted(side, 9_614, 9_000))]
        [share] = side.read(document)[side.trade.payment_allocations]
        assert shown(share, "amount_cents", "payment_amount_cents") == (10_000, 110_000)

    def test_money_may_give_its_base_amount(self, side: Side) -> None:
        document = self.document(side)
        payment = self.money(side, (document, 10_000), rate=0.9333, base_amount_cents=9_333)
        assert side.ledger.postings(payment) == [(PAID, self.posted(side, 9_333, 9_000))]
        body = side.payment_body(300, **USD, base_amount_cents=100)
        alone = side.made(side.trade.payments, body)["payment"]
        assert shown(alone, "exchange_rate", "base_amount_cents") == (0.333333333333, 100)
        fault = side.ledger.refused(
            "POST", side.trade.payments, json={**body, "exchange_rate": 0.34}
        )
        assert fault == (422, "exchange_rate_mismatch")

    def test_a_corrected_payment_moves_only_the_exchange(self, side: Side) -> None:
        document = self.document(side)
        payment = self.money(side, (document, 10_000))
        changed = side.change(payment, exchange_rate=0.97)
        assert shown(changed, "exchange_rate", "base_amount_cents") == (0.97, 9_700)
        [_, *_, last] = side.ledger.postings(payment)
        moved: dict[str, int] = {}
        for _, amounts in side.ledger.postings(payment):
            for code, amount in amounts.items():
                moved[code] = moved.get(code, 0) + amount
        assert {c: a for c, a in moved.items() if a} == self.posted(side, 9_700, 9_000)
        assert last
        assert side.read(document)["base_outstanding_cents"] == 0

    def test_a_credit_takes_the_rate_of_its_source(self, side: Side) -> None:
        document = self.document(side)
        source = {side.trade.source: document["id"]}
        credit = side.credit(4_000, side.trade.share(document, 4_000), **USD, **source)
        assert shown(credit, *BASE) == (0.9, 3_600, 0)
        assert shown(side.read(document), *BASE) == (0.9, 9_000, 5_400)
        [part] = credit["allocations"]
        assert part["exchange_difference_cents"] == 0

    def test_a_credit_at_another_rate_gains_or_loses(self, side: Side) -> None:
        document = self.document(side)
        credit = side.credit(5_000, side.trade.share(document, 5_000), **USD, exchange_rate=0.95)
        [part] = credit["allocations"]
        assert part["exchange_difference_cents"] == side.trade.sign * 250

    def test_a_credit_settles_only_its_own_currency(self, side: Side) -> None:
        document = self.document(side)
        body = side.credit_body(
            **{side.trade.moment: SENT, "allocations": [side.trade.share(document, 100)]}
        )
        assert side.ledger.refused("POST", side.trade.credits, json=body) == (
            422,
            "currency_mismatch",
        )

    def test_a_write_off_has_no_difference(self, side: Side) -> None:
        document = self.document(side)
        written = side.write_off(document, amount_cents=5_000)
        assert shown(written, *BASE) == (0.9, 9_000, 4_500)

    def test_the_table_of_the_day_gives_the_rate(self, side: Side) -> None:
        rates = {"reference_currency": "GBP", "rates": {"USD": "1.25", "ISK": 160}}
        table_set(side.shop, TABLED, **rates)
        on = {**side.trade.on(TABLED), side.trade.moment: f"{TABLED}T09:00:00Z"}
        document = side.open(10_000, **USD, **on)
        assert shown(document, *BASE) == (0.8, 8_000, 8_000)
        krona = side.open(16_000, currency="ISK", **on)
        assert shown(krona, *BASE) == (0.00625, 10_000, 10_000)
        far = side.open(10_000, **USD, exchange_rate=0.9, **on)
        [warning] = far["warnings"]
        assert (warning["field"], "0.8" in warning["message"]) == ("exchange_rate", True)

    def test_a_draft_takes_its_rate_when_it_opens(self, side: Side) -> None:
        table_set(side.shop, TABLED, reference_currency="GBP", rates={"USD": "1.25"})
        draft = side.draft(line(10_000), **USD, **{side.trade.dated: TABLED})
        assert shown(draft, *BASE, "base_tax_total_cents") == (None, None, None, None)
        opened = side.api.post(side.trade.of(draft, side.trade.move)).json()
        assert shown(opened, *BASE) == (0.8, 8_000, 8_000)
        given = side.draft(line(10_000), **USD, exchange_rate=0.7)
        assert shown(given, *BASE) == (0.7, None, None)

    @pytest.mark.parametrize(
        ("facts", "code"),
        [
            ({"exchange_rate": 2}, "exchange_rate_not_needed"),
            ({"currency": "NOK"}, "exchange_rate_missing"),
            ({**USD, "exchange_rate": "0.1234567890123"}, "validation_error"),
            ({**USD, "exchange_rate": 0.1234567890123}, "exchange_rate_invalid"),
            ({**USD, "exchange_rate": 0}, "validation_error"),
            ({**USD, "exchange_rate": -1}, "validation_error"),
            ({**USD, "exchange_rate": "1e3"}, "validation_error"),
            ({"currency": "usd"}, "validation_error"),
            ({"currency": "CHF"}, "validation_error"),
        ],
    )
    def test_a_wrong_rate_is_refused(self, side: Side, facts: Record, code: str) -> None:
        for path, body in (
            (side.trade.path, side.body(**{side.trade.moment: SENT})),
            (side.trade.payments, side.payment_body()),
            (side.trade.credits, side.credit_body(**{side.trade.moment: SENT})),
        ):
            _, refused = side.ledger.refused("POST", path, json={**body, **facts})
            assert refused == code, path

    def test_the_currency_is_fixed_once_it_is_open(self, side: Side) -> None:
        document = self.document(side)
        body = side.body(line(10_000), currency="SEK")
        fault = side.ledger.refused("PUT", side.trade.of(document), json=body)
        assert fault == (422, "immutable_field")
        edited = side.api.put(side.trade.of(document), json=side.body(line(5_000))).json()
        assert shown(edited, "currency", *BASE) == ("USD", 0.9, 4_500, 4_500)

    def test_an_amount_too_large_in_base_is_refused(self, side: Side) -> None:
        body = side.body(line(99_999_999_999_999), **USD, exchange_rate=900_000)
        body[side.trade.moment] = SENT
        assert side.ledger.refused("POST", side.trade.path, json=body) == (422, "amount_too_large")

    def test_a_party_owes_in_each_currency_and_in_base(self, side: Side) -> None:
        side = side.with_new_party()
        document = self.document(side)
        side.open(700)
        party = f"{side.trade.parties}{side.counterparty['id']}/"
        owed = side.api.get(party).json()
        assert owed["outstanding_balance"] == 9_700
        assert owed["outstanding_by_currency"] == {"GBP": 700, "USD": 10_000}
        self.money(side, (document, 4_000))
        listed = side.api.get(side.trade.parties, params={"search": owed["display_name"]}).json()
        [owed] = [each for each in listed["results"] if each["id"] == side.counterparty["id"]]
        assert owed["outstanding_balance"] == 6_100
        assert owed["outstanding_by_currency"] == {"GBP": 700, "USD": 6_000}

    def test_lists_filter_by_currency(self, side: Side) -> None:
        side = side.with_new_party()
        document = self.document(side)
        payment = self.money(side, (document, 100))
        credit = side.credit(100, **USD, exchange_rate=0.9)
        side.open(700)
        party = {f"{side.trade.party}_id": side.counterparty["id"], "currency": "USD"}
        for path, record in (
            (side.trade.path, document),
            (side.trade.payments, payment),
            (side.trade.credits, credit),
        ):
            listed = side.api.get(path, params=party).json()["results"]
            assert [each["id"] for each in listed] == [record["id"]]

    def test_what_is_open_on_a_day_is_listed(self, side: Side) -> None:
        side = side.with_new_party()
        document = self.document(side)
        self.money(side, (document, 10_000))
        party = {f"{side.trade.party}_id": side.counterparty["id"]}
        for day, found in (("2025-03-09", [document["id"]]), (PAID, [])):
            listed = side.api.get(side.trade.path, params={**party, "open_on": day}).json()
            assert [each["id"] for each in listed["results"]] == found


class TestForeignSales(Foreign):
    trade = SALES

    def test_a_refund_of_a_payment_comes_at_its_own_rate(self, side: Side, shop: Business) -> None:
        document = self.document(side)
        self.money(side, (document, 10_000))
        refund = refunded(shop, document, amount_cents=4_000)
        assert shown(refund, "base_amount_cents") == (3_600,)
        payment = refund_paid(shop, refund, exchange_rate=0.98, completed_at=f"{PAID}T10:00:00Z")
        assert shown(payment, "exchange_rate", "base_amount_cents") == (0.98, 3_920)
        posted = {"2300": 3_600, "1100": -3_920, LOSSES: 320}
        assert side.ledger.postings(payment) == [(PAID, posted)]
        assert read(shop, REFUNDS, refund)["paid_amount"] == 4_000

    def test_a_refund_that_is_not_paid_takes_no_rate(self, side: Side) -> None:
        document = self.document(side)
        self.money(side, (document, 10_000))
        body = {"invoice_id": document["id"], "amount_cents": 1, "exchange_rate": 0.5}
        assert side.ledger.refused("POST", REFUNDS, json=body) == (422, "exchange_rate_not_needed")

    def test_a_payment_with_a_refund_keeps_its_rate(self, side: Side, shop: Business) -> None:
        payment = self.money(side, total=1_000)
        shop.made(REFUNDS, {"payment_id": payment["id"], "amount_cents": 400})
        path = side.trade.of_payment(payment)
        fault = side.ledger.refused("PATCH", path, json={"exchange_rate": 0.7})
        assert fault == (409, "payment_has_refunds")


class TestForeignPurchases(Foreign):
    trade = PURCHASES

    def test_a_refund_is_allocated_in_full(self, side: Side) -> None:
        document = self.document(side)
        self.money(side, (document, 10_000))
        body = whole_refund_body(
            side.counterparty, 5_000, of_bill(document, 4_000), refund_date=PAID, **USD
        )
        rate = {"exchange_rate": 0.95}
        fault = side.ledger.refused("POST", VENDOR_REFUNDS, json={**body, **rate})
        assert fault == (422, "refund_not_allocated")
        refund = side.made(VENDOR_REFUNDS, {**body, **rate, "total_refunded_amount": 4_000})
        assert refund["base_amount_cents"] == 3_600
        assert side.ledger.postings(refund) == [(PAID, {"1270": 3_600, "6000": -3_600})]

    def test_a_part_kept_as_a_credit_takes_the_table_and_the_payment_its_base_amount(
        self, side: Side
    ) -> None:
        table_set(side.shop, TABLED, reference_currency="GBP", rates={"USD": "1.25"})
        document = self.document(side)
        self.money(side, (document, 10_000))
        items = of_bill(document, 6_000), as_credit(4_000)
        body = whole_refund_body(
            side.counterparty, 10_000, *items, refund_date=TABLED, base_amount_cents=5_700, **USD
        )
        announced = {"payments": [{"amount_cents": 6_000}]}
        fault = side.ledger.refused("POST", VENDOR_REFUNDS, json={**body, **announced})
        assert fault == (422, "exchange_rate_not_needed")
        refund = side.made(VENDOR_REFUNDS, body)
        [payment] = refund["vendor_refund_payments"]
        assert shown(payment, "exchange_rate", "base_amount_cents") == (0.95, 5_700)
        [kept] = [each for each in refund["allocations"] if each["allocation_type"] == "credit"]
        credit = read(side.shop, side.trade.credits, {"id": kept["vendor_credit_id"]})
        assert shown(credit, "exchange_rate", "base_total_amount_cents") == (0.8, 3_200)
