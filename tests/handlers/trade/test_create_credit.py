"""create_customer_credit and create_vendor_credit: amounts, postings and settlements."""

import pytest

from tests.builders.trade import (
    CREDITED,
    CREDITED_AT,
    NOBODY,
    PURCHASES,
    SALES,
    Record,
    Trade,
    line,
    unwarned,
)
from tests.handlers.trade.side import Side
from tests.partner import Partner

CHART = "general-ledger/chart-of-accounts/"


def account(code: str) -> Record:
    return {"type": "AccountCode", "code": code}


def by_id(side: Side, code: str) -> Record:
    return {"type": "AccountId", "id": side.api.get(f"{CHART}{code}/").json()["id"]}


def unknown_body(side: Side, name: str) -> Record:
    """Return a credit of a party that is named only by its external id."""
    body = side.credit_body(
        **{side.trade.moment: CREDITED_AT, f"{side.trade.party}_external_id": name}
    )
    del body[f"{side.trade.party}_id"]
    return body


class Creation:
    """Both operations; `another` is the code of a line's account, `nothing` are unset fields."""

    another: str
    nothing: tuple[str, ...] = ()

    def test_a_credit_shows_all_given_fields(self, side: Side) -> None:
        document = side.open(5_000)
        returns = by_id(side, side.trade.credit_line)
        first = {
            "amount": 3_000,
            "tax_amount": 600,
            side.trade.account_field: returns,
            "memo": "House blend",
            "tags": ["returns"],
            "metadata": {"bags": [1, 2]},
        }
        given = {
            "external_id": "credit-1",
            side.trade.credit_number: "Gutschrift 7",
            side.trade.moment: CREDITED_AT,
            side.trade.source: document["id"],
            "currency": "GBP",
            "memo": "Three bags sent back",
            "tags": ["wholesale", "north"],
            "metadata": {"deep": {"er": [1]}},
        }
        body = side.credit_body(first, {"amount": 400}, **given)
        shares = [side.trade.share(document, 1_500)]
        answer = side.api.post(side.trade.credits, json={**body, "allocations": shares})
        credit = answer.json()
        assert answer.status_code == 201, answer.text
        assert {name: credit[name] for name in given} == given
        assert (
            credit[f"{side.trade.party}_id"]
            == credit[side.trade.party]["id"]
            == side.counterparty["id"]
        )
        assert credit[side.trade.party]["name"] == side.counterparty["company_name"]
        shown, plain = credit["line_items"]
        untaxed = dict.fromkeys(("tax_code_id", "tax_rate", "source_line_id"))
        untaxed |= {"withholding_total": 0, "withholding_cents": 0}
        assert shown == {**first, "tax_amount_cents": 600, **untaxed, "id": shown["id"]}
        assert plain == {
            "id": plain["id"],
            "amount": 400,
            "tax_amount": 0,
            "tax_amount_cents": 0,
            **untaxed,
            side.trade.account_field: returns,
            "memo": None,
            "tags": [],
            "metadata": None,
        }
        amounts = {
            "business_id": side.shop.id,
            "tax_total": 600,
            "total_amount": 4_000,
            "applied_amount": 1_500,
            "unapplied_amount": 2_500,
            "status": "partially_applied",
            "voided_at": None,
            "document": None,
            **dict.fromkeys(self.nothing),
        }
        assert {name: credit[name] for name in amounts} == amounts
        assert credit["allocations"] == [
            {
                f"{side.trade.noun}_id": document["id"],
                side.trade.number: document[side.trade.number],
                "amount_cents": 1_500,
                "exchange_difference_cents": 0,
                f"{side.trade.noun}_outstanding_balance_cents": 3_500,
                "applied_at": f"{CREDITED}T00:00:00Z",
            }
        ]
        assert answer.headers["location"].endswith(f"/{side.trade.of_credit(credit)}")
        again = side.api.get(side.trade.of_credit(credit))
        assert (again.json(), again.headers["etag"]) == (credit, answer.headers["etag"])

    def test_a_credit_reverses_the_accounts_of_its_lines_and_the_tax(self, side: Side) -> None:
        named = side.trade.account_field
        items = [
            {"amount": 1_000, "tax_amount": 200},
            {"amount": 300, named: by_id(side, side.trade.line), "tax_amount_cents": 60},
            {"amount": 50, named: account(self.another)},
            {"amount": 7, named: account(side.trade.credit_line)},
        ]
        credit = side.credit(0, line_items=items)
        assert (credit["tax_total"], credit["total_amount"]) == (260, 1_617)
        [entry] = side.ledger.entries(credit)
        amounts = {
            **{side.trade.credit_line: 1_007, side.trade.line: 300, self.another: 50},
            **{side.trade.tax: 260, side.trade.credit_control: -1_617},
        }
        assert dict(entry.lines) == side.trade.signed(amounts)
        assert len(entry.lines) == 5
        assert (entry.on, entry.source_type) == (CREDITED, f"{side.trade.party}_credit")
        assert (entry.reference, entry.reversal_of) == (credit[side.trade.credit_number], None)
        assert entry.description == f"{side.trade.credit_title} {side.counterparty['company_name']}"

    def test_a_draft_has_no_number_and_is_not_in_the_ledger(self, side: Side) -> None:
        before = len(side.ledger.entries())
        draft = side.credit_draft(allocations=[])
        nothing = (side.trade.moment, side.trade.credit_number, "voided_at")
        assert (draft["status"], [draft[name] for name in nothing]) == ("draft", [None] * 3)
        assert (draft["applied_amount"], draft["unapplied_amount"]) == (0, 0)
        assert len(side.ledger.entries()) == before
        named = side.credit_draft(**{side.trade.credit_number: "Mine-1"})
        assert (named["status"], named[side.trade.credit_number]) == ("draft", "Mine-1")

    def test_numbers_run_and_one_in_the_series_own_form_moves_them(
        self, acme: Partner, trade: Trade
    ) -> None:
        shop, series, other = acme.business(), trade.credit_series, trade.other_side
        party = trade.somebody(shop)

        def number(given: str | None = None) -> str:
            facts = {trade.credit_number: given} if given else {}
            made: str = trade.credit(shop, party, 10, **facts)[trade.credit_number]
            return made

        assert [number(), number()] == [f"{series}000001", f"{series}000002"]
        assert number(f"{series}000007") == f"{series}000007"
        assert number("2025/9") == "2025/9"
        assert number() == f"{series}000008"
        shop.made(
            trade.credits, trade.credit_body(party, **{trade.credit_number: f"{series}000010"})
        )
        assert number() == f"{series}000011"
        assert number(f"{series}000009") == f"{series}000009"
        assert number() == f"{series}000012"
        assert trade.open(shop, party)[trade.number] == f"{trade.series}000001"
        foreign = other.credit(shop, other.somebody(shop), 5)
        assert foreign[other.credit_number] == f"{other.credit_series}000001"

    @pytest.mark.parametrize(
        ("amount", "status", "left"),
        [(0, "{opened}", 900), (300, "partially_applied", 600), (900, "applied", 0)],
    )
    def test_the_applied_amount_decides_the_status(
        self, side: Side, amount: int, status: str, left: int
    ) -> None:
        shares = [side.trade.share(side.open(1_000), amount)] if amount else []
        credit = side.credit(900, *shares)
        assert (credit["status"], credit["applied_amount"]) == (side.trade.named(status), amount)
        assert credit["unapplied_amount"] == left

    def test_an_application_is_a_separate_entry_on_its_day(self, side: Side) -> None:
        first, second = side.open(1_000), side.open(500)
        credit = side.credit(1_200, side.trade.share(first, 600), side.trade.share(second, 500))
        main, applied = side.ledger.entries(credit)
        assert (main.on, main.amounts) == (CREDITED, side.trade.posted_by_credit(1_200))
        assert (applied.on, applied.amounts) == (CREDITED, side.trade.posted_by_applying(1_100))
        name = side.counterparty["company_name"]
        assert applied.description == f"{side.trade.credit_title} {name}, applied"
        assert applied.reference == credit[side.trade.credit_number]
        amounts = (
            (side.trade.credit_control, 1_100),
            (side.trade.control, -600),
            (side.trade.control, -500),
        )
        assert sorted(applied.lines) == sorted(
            (code, side.trade.sign * each) for code, each in amounts
        )
        assert side.status_of(first) == ("partially_paid", 400)
        assert side.status_of(second) == ("paid", 0)
        shown = side.read(second)
        assert shown["paid_at"] == f"{CREDITED}T00:00:00Z"
        assert shown[side.trade.credit_allocations] == [
            {
                f"{side.trade.credit_noun}_id": credit["id"],
                "applied_at": f"{CREDITED}T00:00:00Z",
                "amount_cents": 500,
            }
        ]

    def test_a_credit_settles_no_document_before_its_day(self, side: Side) -> None:
        later = side.open(300, **side.trade.on("2025-04-02"))
        credit = side.credit(
            300, side.trade.share(side.open(100), 100), side.trade.share(later, 200)
        )
        assert side.ledger.postings(credit) == [
            (CREDITED, side.trade.posted_by_credit(300)),
            (CREDITED, side.trade.posted_by_applying(100)),
            ("2025-04-02", side.trade.posted_by_applying(200)),
        ]
        days = [each["applied_at"][:10] for each in credit["allocations"]]
        assert days == [CREDITED, "2025-04-02"]

    def test_a_credit_is_dated_by_its_day_in_utc(self, side: Side) -> None:
        credit = side.credit(5, **{side.trade.moment: "2025-03-06T01:30:00+02:00"})
        assert credit[side.trade.moment] == "2025-03-05T23:30:00Z"
        assert [entry.on for entry in side.ledger.entries(credit)] == [CREDITED]

    def test_a_credit_settles_parts_of_credit_and_document_in_proportion(self, side: Side) -> None:
        taxed = line(8_333, sales_taxes=[{"amount": 1_667}])
        document = side.open(line_items=[taxed])
        items = [{"amount": 600, "tax_amount_cents": 120}]
        credit = side.credit(0, side.trade.share(document, 333), line_items=items)
        splits = side.ledger.ask(
            "SELECT l.settles_id::text, l.split FROM journal_line l"
            " WHERE l.business_id = %(business)s AND l.settles_id IN (%(document)s, %(credit)s)",
            document=document["id"],
            credit=credit["id"],
        )
        held = {id_: sorted(side.trade.sign * each for _, each in split) for id_, split in splits}
        # 333 of 8,333 and 1,667 are 277 and 56; of 600 and 120 they are 278 and 55.
        assert held == {document["id"]: [-277, -56], credit["id"]: [55, 278]}

    def test_its_source_tells_where_it_comes_from_and_settles_nothing(self, side: Side) -> None:
        document = side.open(500)
        credit = side.credit(500, **{side.trade.source: document["id"]})
        assert (credit[side.trade.source], credit["allocations"]) == (document["id"], [])
        assert side.read(document) == document

    def test_an_unknown_party_is_made_on_the_way(self, side: Side) -> None:
        body, id_ = unknown_body(side, "sent-it-back"), f"{side.trade.party}_id"
        first, second = side.made(side.trade.credits, body), side.made(side.trade.credits, body)
        made = first[side.trade.party]
        assert made["name"] == made["external_id"] == "sent-it-back"
        assert second[id_] == first[id_]
        assert side.made(side.trade.credits, {**body, id_: first[id_]})[id_] == first[id_]

    def test_a_known_external_id_answers_the_credit_unchanged(self, side: Side) -> None:
        share = side.trade.share(side.open(100), 60)
        first = side.credit(90, share, external_id="known")
        for facts in (
            {},
            {f"{side.trade.party}_id": NOBODY, side.trade.moment: CREDITED_AT},
            {"allocations": [side.trade.share({"id": NOBODY}, 1)]},
            {side.trade.source: NOBODY},
        ):
            body = side.credit_body(external_id="known", **facts)
            with side.ledger.untouched():
                again = side.api.post(side.trade.credits, json=body)
            assert (again.status_code, unwarned(again.json())) == (200, first)
            assert again.headers["etag"] == '"1"'

    def test_a_preview_makes_no_party_either(self, side: Side) -> None:
        body = unknown_body(side, "only-looking")
        with side.ledger.untouched():
            seen = side.api.post(f"{side.trade.credits}?preview=true", json=body).json()
        assert seen[side.trade.party]["external_id"] == "only-looking"

    def test_an_archived_account_of_a_draft_is_active_again_when_it_is_opened(
        self, side: Side
    ) -> None:
        code = f"{side.trade.credit_line}.90"
        new = {"code": code, "name": "Old returns", "account_type": "revenue"}
        side.made(CHART, {**new, "account_subtype": "revenue"})
        draft = side.credit_draft({"amount": 20, side.trade.account_field: account(code)})
        assert side.api.delete(f"{CHART}{code}/").status_code == 200
        side.api.put(side.trade.of_credit(draft), json={side.trade.moment: CREDITED_AT})
        assert side.api.get(f"{CHART}{code}/").json()["is_active"] is True
        amounts = side.trade.signed({code: 20, side.trade.credit_control: -20})
        assert side.ledger.postings(draft) == [(CREDITED, amounts)]


class TestCreateCustomerCredit(Creation):
    trade = SALES
    another = "4500"


class TestCreateVendorCredit(Creation):
    trade = PURCHASES
    another = "5000"
    nothing = ("source_refund_id",)
