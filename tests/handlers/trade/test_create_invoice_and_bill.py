"""create_invoice and create_bill: what they take, what they make of it, and what is posted then."""

from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.purchases import BILLS, bill_body, received
from tests.builders.sales import invoice_body
from tests.builders.trade import DAY, NOBODY, PURCHASES, RECEIVED, SALES, SENT, Record, Trade, line
from tests.partner import Business, Partner

CHART = "general-ledger/chart-of-accounts/"
# Two at 10.00 less 1.00 and three thirds of 3.33; 0.90 off the whole, 20 % on the rest.
TAXED = (
    line(1_000, 2, discount_amount=100, tax_rate=20),
    line(333, "1.5", tax_rate="20"),
    line(500, sales_taxes=[{"amount": 25}]),
)


def account(code: str) -> Record:
    return {"type": "AccountCode", "code": code}


class Creating:
    """Both: `own` is what one alone can say, `nothing` what is empty, `accounts` others it has."""

    own: tuple[str, ...] = ()
    nothing: tuple[str, ...]
    accounts: tuple[str, str, str]

    def test_a_draft_shows_what_was_given_and_is_not_in_the_ledger(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        given = {
            "external_id": "draft-1",
            trade.dated: "2025-03-02",
            "due_at": "2025-04-01T12:00:00Z",
            "memo": "for March",
            "transaction_tags": ["blue", "door"],
            "metadata": {"any": [1, {"thing": None}]},
            **dict.fromkeys(self.own, "GBI-2201"),
        }
        told = line(
            description="Beans",
            product="arabica",
            external_id="line-1",
            memo="whole",
            tags=["fresh"],
            metadata=[1],
        )
        answer = shop.api.post(trade.path, json=trade.body(party, told, **given))
        assert answer.status_code == 201
        made = answer.json()
        assert {name: made[name] for name in given} == given
        assert made["tags"] == ["blue", "door"]
        assert (made["type"], made["status"]) == (trade.noun.title(), "draft")
        assert (made["business_id"], made["currency"]) == (shop.id, "GBP")
        assert made[trade.number] is made[trade.moment] is made["paid_at"] is None
        assert made[f"{trade.party}_id"] == made[trade.party]["id"] == party["id"]
        assert made[trade.party]["name"] == party["company_name"]
        [shown] = made["line_items"]
        assert {name: shown[name] for name in told} == told
        assert [made[name] for name in self.nothing] == [[] for _ in self.nothing]
        assert answer.headers["location"].endswith(f"/{trade.path}{made['id']}/")
        assert ledger.entries(made) == []
        assert trade.read(shop, made) == made

    def test_an_open_one_takes_a_number_and_is_posted_on_its_day(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        made = trade.open(shop, party, 10_000)
        assert (made["status"], made[trade.moment]) == (trade.opened, trade.at)
        assert made["outstanding_balance"] == made["total_amount"] == 10_000
        assert made[trade.number].startswith(f"{trade.series}0000")
        [entry] = ledger.entries(made)
        assert (entry.on, entry.amounts) == (DAY, trade.posted(10_000))
        assert (entry.source_type, entry.reference) == (trade.noun, made[trade.number])
        assert entry.description == f"{trade.title} {party['company_name']}"

    def test_a_document_without_a_date_is_posted_on_the_day_of_its_opening(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        late = {trade.moment: "2025-03-03T23:30:00-05:00"}
        made = shop.made(trade.path, trade.body(party, **late))
        assert (made[trade.dated], made[trade.moment]) == (None, "2025-03-04T04:30:00Z")
        assert [entry.on for entry in ledger.entries(made)] == ["2025-03-04"]

    @pytest.mark.parametrize(
        ("quantity", "unit_price", "subtotal"),
        [
            (0.5, 5, 3),
            ("0.5", 5, 3),
            (0.000001, 1_000_000, 1),
            ("0.000001", 499_999, 0),
            (1.1, 100, 110),
            (3, 333, 999),
            ("999999999.999999", 99_999, 99_999_000_000_000),
        ],
    )
    def test_a_quantity_is_exact_and_half_a_cent_goes_up(
        self,
        shop: Business,
        trade: Trade,
        party: Record,
        quantity: Any,
        unit_price: int,
        subtotal: int,
    ) -> None:
        made = shop.made(trade.path, trade.body(party, line(unit_price, quantity)))
        assert made["line_items"][0]["subtotal"] == made["total_amount"] == subtotal

    def test_taxes_and_discounts_come_to_the_cent(
        self, shop: Business, trade: Trade, party: Record
    ) -> None:
        made = shop.made(trade.path, trade.body(party, *TAXED, additional_discount=90))
        assert [each["subtotal"] for each in made["line_items"]] == [1_900, 500, 500]
        # 90 over 1900, 500, 500 is 58.97, 15.52, 15.52; the tax is 20 % of 2400 - 75 = 465.
        assert [each["sales_taxes_total"] for each in made["line_items"]] == [368, 97, 25]
        assert [each["total_amount"] for each in made["line_items"]] == [2_268, 597, 525]
        assert (made["subtotal"], made["discount_total"]) == (2_900, 190)
        assert made["tax_total"] == made["additional_sales_taxes_total"] == 490
        assert made["total_amount"] == 2_900 - 90 + 490

    def test_lines_go_to_the_accounts_they_name(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        first, second, tax = self.accounts
        by_id = {"type": "AccountId", "id": shop.api.get(f"{CHART}{first}/").json()["id"]}
        lines = (
            line(100, account_identifier=by_id),
            line(200, account_identifier=account(second)),
            line(400, sales_taxes=[{"amount": 7, "tax_account": account(tax)}, {"amount": 8}]),
        )
        made = shop.made(trade.path, trade.body(party, *lines, **{trade.moment: trade.at}))
        assert made["line_items"][0]["account_identifier"]["id"] == by_id["id"]
        [entry] = ledger.entries(made)
        amounts = {
            **{trade.control: 715, first: -100, second: -200},
            **{trade.line: -400, tax: -7, trade.tax: -8},
        }
        assert entry.amounts == {code: trade.sign * amount for code, amount in amounts.items()}

    def test_lines_of_one_account_are_added_up_and_zero_is_left_out(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        made = trade.open(shop, party, line_items=[line(5), line(0), line(6)])
        [entry] = ledger.entries(made)
        assert entry.lines == tuple(trade.posted(11).items())

    def test_five_hundred_lines_are_one_document_and_one_more_is_refused(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        lines = [line(place, tax_rate=20) for place in range(1, 501)]
        made = trade.open(shop, party, line_items=lines)
        assert made["total_amount"] == 125_250 + 25_050
        assert sum(each["sales_taxes_total"] for each in made["line_items"]) == 25_050
        [entry] = ledger.entries(made)
        assert entry.amounts == trade.posted(125_250, 25_050)
        with ledger.untouched():
            answer = shop.api.post(trade.path, json=trade.body(party, *lines, line(1)))
        assert answer.status_code == 400

    def test_a_total_of_nothing_posts_nothing_and_is_paid_on_its_day(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        made = trade.open(shop, party, 700, additional_discount=700)
        assert (made["status"], made["total_amount"]) == ("paid", 0)
        assert made["paid_at"] == f"{DAY}T00:00:00Z"
        assert ledger.entries(made) == []

    def test_a_document_is_due_after_the_terms_unless_given(
        self, shop: Business, trade: Trade
    ) -> None:
        patient = trade.somebody(shop, payment_terms_days=30)
        assert trade.open(shop, patient)["due_at"] == "2025-03-31T09:00:00Z"
        told = trade.open(shop, patient, due_at="2025-03-05T00:00:00Z")
        assert told["due_at"] == "2025-03-05T00:00:00Z"
        assert (told["status"], told["is_overdue"]) == ("overdue", True)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"memo": "other", "line_items": [line(999)]},
            {"{party}_id": NOBODY},
            {"{party}_id": None, "{party}_external_id": "never seen before"},
            {"currency": "EUR"},
        ],
    )
    def test_a_repeat_writes_nothing_whatever_else_it_says(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, wrong: Record
    ) -> None:
        name = f"order-{sorted(wrong)}"
        first = trade.open(shop, party, 300, external_id=name)
        given = {**trade.body(party, external_id=name), **trade.named(wrong)}
        body = {field: value for field, value in given.items() if value}
        with ledger.untouched():
            again = shop.api.post(trade.path, json=body)
        assert (again.status_code, again.json()) == (200, first)
        assert again.headers["etag"] == '"1"'

    def test_an_unknown_party_is_made_on_the_way(
        self, shop: Business, ledger: Ledger, trade: Trade
    ) -> None:
        named = {f"{trade.party}_external_id": "number-77", "line_items": [line()]}
        made = shop.made(trade.path, named)
        id_ = f"{trade.party}_id"
        assert made[trade.party]["external_id"] == made[trade.party]["name"] == "number-77"
        assert shop.made(trade.path, named)[id_] == made[id_]
        both = {**named, id_: made[id_]}
        assert shop.made(trade.path, both)[trade.party] == made[trade.party]
        assert shop.api.get(f"{trade.party}s/{made[id_]}/").json()["status"] == "ACTIVE"

    def test_a_number_in_the_series_own_form_moves_the_series(
        self, acme: Partner, trade: Trade
    ) -> None:
        shop = acme.business()
        party, series = trade.somebody(shop), trade.series

        def number(given: str | None = None) -> str:
            facts = {trade.number: given} if given else {}
            made: str = trade.open(shop, party, **facts)[trade.number]
            return made

        assert [number(), number()] == [f"{series}000001", f"{series}000002"]
        assert number(f"{series}000007") == f"{series}000007"
        assert number() == f"{series}000008"
        # Behind the series, or written in another way, it moves nothing.
        for other in ("2025/17", f"{series}99", f"{series}000003"):
            assert number(other) == other
        shop.made(trade.path, trade.body(party, **{trade.number: f"{series}000010"}))
        assert number() == f"{series}000011"


class TestCreateInvoice(Creating):
    trade = SALES
    nothing = ("payment_allocations", "credit_allocations", "refund_allocations", "write_offs")
    accounts = ("4500", "4600", "2400")

    def test_a_discount_on_the_whole_has_an_account_of_its_own(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        given = {"additional_discount": 90, "sent_at": SENT}
        [entry] = ledger.entries(shop.made("invoices/", invoice_body(buyer, *TAXED, **given)))
        assert entry.amounts == {"1200": 3_300, "4200": 90, "4000": -2_900, "2200": -490}


class TestCreateBill(Creating):
    trade = PURCHASES
    own = ("vendor_bill_number", "terms")
    nothing = (
        "bill_payment_allocations",
        "vendor_credit_allocations",
        "vendor_refund_allocations",
    )
    accounts = ("1500", "6200", "1400")

    def test_a_date_after_its_receipt_is_its_day_all_the_same(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = received(shop, vendor, 70, bill_date="2025-03-20")
        assert [entry.on for entry in ledger.entries(made)] == ["2025-03-20"]

    def test_without_a_date_it_is_due_after_its_receipt(self, shop: Business) -> None:
        patient = shop.vendor(payment_terms_days=30)
        undated = shop.made(BILLS, bill_body(patient, received_at=RECEIVED))
        assert undated["due_at"] == "2025-04-02T09:00:00Z"

    def test_discounts_lessen_the_cost_and_taxes_are_recoverable(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        # As on an invoice, but that the discount on the whole has no account of its own.
        first, second, third = TAXED
        lines = (first, {**second, "account_identifier": account("5000")}, third)
        given = {"additional_discount": 90, "bill_date": DAY, "received_at": RECEIVED}
        [entry] = ledger.entries(shop.made(BILLS, bill_body(vendor, *lines, **given)))
        # 90 over 1900, 500 and 500 is 58.97, 15.52 and 15.52: 59, 16 and 15.
        assert entry.amounts == {
            **{"6000": 1_900 - 59 + 500 - 15, "5000": 500 - 16},
            **{"1300": 490, "2000": -3_300},
        }

    def test_the_vendor_owes_what_its_received_bills_come_to(self, shop: Business) -> None:
        other = shop.vendor()
        received(shop, other, 500)
        received(shop, other, 300)
        shop.made(BILLS, bill_body(other))
        assert shop.api.get(f"vendors/{other['id']}/").json()["outstanding_balance"] == 800

    def test_a_preview_shows_the_same_and_writes_nothing(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        given = bill_body(vendor, bill_date=DAY, received_at=RECEIVED)
        with ledger.untouched():
            seen = shop.api.post(f"{BILLS}?preview=true", json=given)
        made, shown = shop.made(BILLS, given), seen.json()
        [entry] = shown.pop("journal_entries")
        moving = {"id", "line_items", "created_at", "updated_at", "bill_number"}
        assert seen.status_code == 200
        assert {name: shown[name] for name in set(made) - moving} == {
            name: made[name] for name in set(made) - moving
        }
        assert (shown["bill_number"], entry["sequence_number"]) == (None, None)
        assert entry["entry_date"] == DAY
        assert [each["account_code"] for each in entry["lines"]] == ["6000", "2000"]
