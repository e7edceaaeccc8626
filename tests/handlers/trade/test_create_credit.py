"""create_customer_credit and create_vendor_credit: the sum, the postings, and what is settled."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.trade import (
    CREDITED,
    CREDITED_AT,
    NOBODY,
    PURCHASES,
    SALES,
    Record,
    Trade,
    line,
)
from tests.partner import Business, Partner

CHART = "general-ledger/chart-of-accounts/"


def account(code: str) -> Record:
    return {"type": "AccountCode", "code": code}


def by_id(shop: Business, code: str) -> Record:
    return {"type": "AccountId", "id": shop.api.get(f"{CHART}{code}/").json()["id"]}


def opened_body(trade: Trade, party: Record, *lines: Record, **facts: object) -> Record:
    """A credit that is sent or received on the fifth of March."""
    return trade.credit_body(party, *lines, **{trade.moment: CREDITED_AT}, **facts)


def unknown_body(trade: Trade, name: str) -> Record:
    """A credit of a party that is known by its external id alone."""
    body = opened_body(trade, {"id": None}, **{f"{trade.party}_external_id": name})
    del body[f"{trade.party}_id"]
    return body


class Creating:
    """Both: `another` is the code of an account that lines may name, `nothing` fields not set."""

    another: str
    nothing: tuple[str, ...] = ()

    def test_a_credit_shows_all_given_fields(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party, 5_000)
        returns = by_id(shop, trade.credit_line)
        first = {
            "amount": 3_000,
            "tax_amount_cents": 600,
            trade.account_field: returns,
            "memo": "House blend",
            "tags": ["returns"],
            "metadata": {"bags": [1, 2]},
        }
        given = {
            "external_id": "credit-1",
            trade.credit_number: "Gutschrift 7",
            trade.moment: CREDITED_AT,
            trade.source: document["id"],
            "currency": "GBP",
            "memo": "Three bags sent back",
            "tags": ["wholesale", "north"],
            "metadata": {"deep": {"er": [1]}},
        }
        body = trade.credit_body(party, first, {"amount": 400}, **given)
        shares = [trade.share(document, 1_500)]
        answer = shop.api.post(trade.credits, json={**body, "allocations": shares})
        credit = answer.json()
        assert answer.status_code == 201, answer.text
        assert {name: credit[name] for name in given} == given
        assert credit[f"{trade.party}_id"] == credit[trade.party]["id"] == party["id"]
        assert credit[trade.party]["name"] == party["company_name"]
        shown, plain = credit["line_items"]
        untaxed = {
            **{"tax_code_id": None, "tax_rate": None},
            **{"source_line_id": None, "withholding_cents": 0},
        }
        assert shown == {**first, **untaxed, "id": shown["id"]}
        assert plain == {
            "id": plain["id"],
            "amount": 400,
            "tax_amount_cents": 0,
            **untaxed,
            trade.account_field: returns,
            "memo": None,
            "tags": [],
            "metadata": None,
        }
        amounts = {
            "business_id": shop.id,
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
                f"{trade.noun}_id": document["id"],
                trade.number: document[trade.number],
                "amount_cents": 1_500,
                f"{trade.noun}_outstanding_balance_cents": 3_500,
                "applied_at": f"{CREDITED}T00:00:00Z",
            }
        ]
        assert answer.headers["location"].endswith(f"/{trade.of_credit(credit)}")
        again = shop.api.get(trade.of_credit(credit))
        assert (again.json(), again.headers["etag"]) == (credit, answer.headers["etag"])

    def test_a_credit_reverses_the_accounts_of_its_lines_and_the_tax(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        named = trade.account_field
        lines = (
            {"amount": 1_000, "tax_amount_cents": 200},
            {"amount": 300, named: by_id(shop, trade.line), "tax_amount_cents": 60},
            {"amount": 50, named: account(self.another)},
            {"amount": 7, named: account(trade.credit_line)},
        )
        credit = shop.made(trade.credits, opened_body(trade, party, *lines))
        assert (credit["tax_total"], credit["total_amount"]) == (260, 1_617)
        [entry] = ledger.entries(credit)
        amounts = {
            **{trade.credit_line: 1_007, trade.line: 300, self.another: 50},
            **{trade.tax: 260, trade.credit_control: -1_617},
        }
        assert dict(entry.lines) == trade.signed(amounts)
        assert len(entry.lines) == 5
        assert (entry.on, entry.source_type) == (CREDITED, f"{trade.party}_credit")
        assert (entry.reference, entry.reversal_of) == (credit[trade.credit_number], None)
        assert entry.description == f"{trade.credit_title} {party['company_name']}"

    def test_a_draft_has_no_number_and_is_not_in_the_ledger(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        before = len(ledger.entries())
        draft = shop.made(trade.credits, trade.credit_body(party, allocations=[]))
        nothing = (trade.moment, trade.credit_number, "voided_at")
        assert (draft["status"], [draft[name] for name in nothing]) == ("draft", [None] * 3)
        assert (draft["applied_amount"], draft["unapplied_amount"]) == (0, 0)
        assert len(ledger.entries()) == before
        number = {trade.credit_number: "Mine-1"}
        named = shop.made(trade.credits, trade.credit_body(party, **number))
        assert (named["status"], named[trade.credit_number]) == ("draft", "Mine-1")

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
        ahead = trade.credit_body(party, **{trade.credit_number: f"{series}000010"})
        shop.made(trade.credits, ahead)
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
        self,
        shop: Business,
        ledger: Ledger,
        trade: Trade,
        party: Record,
        amount: int,
        status: str,
        left: int,
    ) -> None:
        shares = [trade.share(trade.open(shop, party, 1_000), amount)] if amount else []
        credit = trade.credit(shop, party, 900, *shares)
        assert (credit["status"], credit["applied_amount"]) == (trade.named(status), amount)
        assert credit["unapplied_amount"] == left

    def test_an_application_is_a_separate_entry_on_its_day(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        first, second = trade.open(shop, party, 1_000), trade.open(shop, party, 500)
        shares = trade.share(first, 600), trade.share(second, 500)
        credit = trade.credit(shop, party, 1_200, *shares)
        main, applied = ledger.entries(credit)
        assert (main.on, main.amounts) == (CREDITED, trade.posted_by_credit(1_200))
        assert (applied.on, applied.amounts) == (CREDITED, trade.posted_by_applying(1_100))
        assert applied.description == f"{trade.credit_title} {party['company_name']}, applied"
        assert applied.reference == credit[trade.credit_number]
        amounts = ((trade.credit_control, 1_100), (trade.control, -600), (trade.control, -500))
        assert sorted(applied.lines) == sorted((code, trade.sign * each) for code, each in amounts)
        assert trade.status_of(shop, first) == ("partially_paid", 400)
        assert trade.status_of(shop, second) == ("paid", 0)
        shown = trade.read(shop, second)
        assert shown["paid_at"] == f"{CREDITED}T00:00:00Z"
        assert shown[trade.credit_allocations] == [
            {
                f"{trade.credit_noun}_id": credit["id"],
                "applied_at": f"{CREDITED}T00:00:00Z",
                "amount_cents": 500,
            }
        ]

    def test_a_credit_settles_no_document_before_its_day(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        later = trade.open(shop, party, 300, **trade.on("2025-04-02"))
        shares = trade.share(trade.open(shop, party, 100), 100), trade.share(later, 200)
        credit = trade.credit(shop, party, 300, *shares)
        assert ledger.postings(credit) == [
            (CREDITED, trade.posted_by_credit(300)),
            (CREDITED, trade.posted_by_applying(100)),
            ("2025-04-02", trade.posted_by_applying(200)),
        ]
        days = [each["applied_at"][:10] for each in credit["allocations"]]
        assert days == [CREDITED, "2025-04-02"]

    def test_a_moment_is_told_by_its_day_in_utc(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        credit = trade.credit(shop, party, 5, **{trade.moment: "2025-03-06T01:30:00+02:00"})
        assert credit[trade.moment] == "2025-03-05T23:30:00Z"
        assert [entry.on for entry in ledger.entries(credit)] == [CREDITED]

    def test_a_credit_settles_parts_of_credit_and_document_in_proportion(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        taxed = line(8_333, sales_taxes=[{"amount": 1_667}])
        document = trade.open(shop, party, line_items=[taxed])
        lines = {"amount": 600, "tax_amount_cents": 120}
        body = opened_body(trade, party, lines, allocations=[trade.share(document, 333)])
        credit = shop.made(trade.credits, body)
        splits = ledger.ask(
            "SELECT l.settles_id::text, l.split FROM journal_line l"
            " WHERE l.business_id = %(business)s AND l.settles_id IN (%(document)s, %(credit)s)",
            document=document["id"],
            credit=credit["id"],
        )
        held = {id_: sorted(trade.sign * each for _, each in split) for id_, split in splits}
        # Of 8333 and 1667, 333 takes 277 and 56; of 600 and 120 it takes 278 and 55.
        assert held == {document["id"]: [-277, -56], credit["id"]: [55, 278]}

    def test_its_source_tells_where_it_comes_from_and_settles_nothing(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party, 500)
        credit = trade.credit(shop, party, 500, **{trade.source: document["id"]})
        assert (credit[trade.source], credit["allocations"]) == (document["id"], [])
        assert trade.read(shop, document) == document

    def test_an_unknown_party_is_made_on_the_way(
        self, shop: Business, ledger: Ledger, trade: Trade
    ) -> None:
        body, id_ = unknown_body(trade, "sent-it-back"), f"{trade.party}_id"
        first, second = shop.made(trade.credits, body), shop.made(trade.credits, body)
        made = first[trade.party]
        assert made["name"] == made["external_id"] == "sent-it-back"
        assert second[id_] == first[id_]
        assert shop.made(trade.credits, {**body, id_: first[id_]})[id_] == first[id_]

    def test_a_known_external_id_answers_the_credit_unchanged(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        share = trade.share(trade.open(shop, party, 100), 60)
        first = trade.credit(shop, party, 90, share, external_id="known")
        for facts in (
            {},
            {f"{trade.party}_id": NOBODY, trade.moment: CREDITED_AT},
            {"allocations": [trade.share({"id": NOBODY}, 1)]},
            {trade.source: NOBODY},
        ):
            body = trade.credit_body(party, external_id="known", **facts)
            with ledger.untouched():
                again = shop.api.post(trade.credits, json=body)
            assert (again.status_code, again.json()) == (200, first)
            assert again.headers["etag"] == '"1"'

    def test_a_preview_shows_the_same_without_a_number(
        self, shop: Business, trade: Trade, party: Record
    ) -> None:
        shares = [trade.share(trade.open(shop, party, 100), 70)]
        body = opened_body(trade, party, allocations=shares)
        seen = shop.api.post(f"{trade.credits}?preview=true", json=body)
        assert (seen.status_code, "location" in seen.headers) == (200, False)
        made, shown = shop.made(trade.credits, body), seen.json()
        same = made.keys() - {"id", "line_items", "created_at", "updated_at", trade.credit_number}
        assert {name: shown[name] for name in same} == {name: made[name] for name in same}
        assert shown[trade.credit_number] is None
        main, applied = shown["journal_entries"]
        assert {main["source_id"], applied["source_id"]} == {shown["id"]}
        codes = [[each["account_code"] for each in entry["lines"]] for entry in (main, applied)]
        assert codes == [list(trade.posted_by_credit(1)), list(trade.posted_by_applying(1))]

    def test_a_preview_makes_no_party_either(
        self, shop: Business, ledger: Ledger, trade: Trade
    ) -> None:
        body = unknown_body(trade, "only-looking")
        with ledger.untouched():
            seen = shop.api.post(f"{trade.credits}?preview=true", json=body).json()
        assert seen[trade.party]["external_id"] == "only-looking"

    def test_an_archived_account_of_a_draft_is_active_again_when_it_is_opened(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        code = f"{trade.credit_line}.90"
        new = {"code": code, "name": "Old returns", "account_type": "revenue"}
        shop.made(CHART, {**new, "account_subtype": "revenue"})
        named = {"amount": 20, trade.account_field: account(code)}
        draft = shop.made(trade.credits, trade.credit_body(party, named))
        assert shop.api.delete(f"{CHART}{code}/").status_code == 200
        shop.api.put(trade.of_credit(draft), json={trade.moment: CREDITED_AT})
        assert shop.api.get(f"{CHART}{code}/").json()["is_active"] is True
        amounts = trade.signed({code: 20, trade.credit_control: -20})
        assert ledger.postings(draft) == [(CREDITED, amounts)]


class TestCreateCustomerCredit(Creating):
    trade = SALES
    another = "4500"


class TestCreateVendorCredit(Creating):
    trade = PURCHASES
    another = "5000"
    nothing = ("source_refund_id",)
