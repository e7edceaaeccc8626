"""create_invoice and create_bill: accepted and shown fields, amounts and postings."""

from datetime import date, timedelta
from typing import Any

import pytest

from tests.builders.trade import (
    DAY,
    NOBODY,
    PURCHASES,
    RECEIVED,
    SALES,
    Record,
    Trade,
    line,
    unwarned,
)
from tests.handlers.trade.side import Side
from tests.partner import Partner

CHART = "general-ledger/chart-of-accounts/"
# 2 at 10.00 less 1.00 and 1.5 at 3.33, both at 20 %; 5.00 with a tax of 0.25.
TAXED = (
    line(1_000, 2, discount_amount=100, tax_rate=20),
    line(333, "1.5", tax_rate="20"),
    line(500, sales_taxes=[{"amount": 25}]),
)


def account(code: str) -> Record:
    return {"type": "AccountCode", "code": code}


class Creation:
    """Both operations; `own` are one side's fields, `nothing` empty lists, `accounts` codes."""

    own: tuple[str, ...] = ()
    nothing: tuple[str, ...]
    accounts: tuple[str, str, str]

    def test_a_draft_shows_what_was_given_and_is_not_in_the_ledger(self, side: Side) -> None:
        given = {
            "external_id": "draft-1",
            side.trade.dated: "2025-03-02",
            "due_at": "2025-04-01T12:00:00Z",
            "memo": "for March",
            "transaction_tags": ["blue", "door"],
            "metadata": {"any": [1, {"thing": None}]},
            **dict.fromkeys(self.own, "GBI-2201"),
        }
        item = {
            **line(description="Beans", product="arabica", external_id="line-1"),
            **{"memo": "whole", "tags": ["fresh"], "metadata": [1]},
        }
        answer = side.api.post(side.trade.path, json=side.body(item, **given))
        assert answer.status_code == 201
        made = answer.json()
        assert {name: made[name] for name in given} == given
        assert made["tags"] == ["blue", "door"]
        assert (made["type"], made["status"]) == (side.trade.noun.title(), "draft")
        assert (made["business_id"], made["currency"]) == (side.shop.id, "GBP")
        assert made[side.trade.number] is made[side.trade.moment] is made["paid_at"] is None
        assert (
            made[f"{side.trade.party}_id"]
            == made[side.trade.party]["id"]
            == side.counterparty["id"]
        )
        assert made[side.trade.party]["name"] == side.counterparty["company_name"]
        [shown] = made["line_items"]
        assert {name: shown[name] for name in item} == item
        assert [made[name] for name in self.nothing] == [[] for _ in self.nothing]
        assert answer.headers["location"].endswith(f"/{side.trade.path}{made['id']}/")
        assert side.ledger.entries(made) == []
        assert side.read(made) == made

    def test_an_open_one_takes_a_number_and_is_posted_on_its_day(self, side: Side) -> None:
        made = side.open(10_000)
        assert (made["status"], made[side.trade.moment]) == (side.trade.opened, side.trade.at)
        assert made["outstanding_balance"] == made["total_amount"] == 10_000
        assert made[side.trade.number].startswith(f"{side.trade.series}0000")
        [entry] = side.ledger.entries(made)
        assert (entry.on, entry.amounts) == (DAY, side.trade.posted(10_000))
        assert (entry.source_type, entry.reference) == (side.trade.noun, made[side.trade.number])
        assert entry.description == f"{side.trade.title} {side.counterparty['company_name']}"

    def test_a_document_without_a_date_is_posted_on_the_day_of_its_opening(
        self, side: Side
    ) -> None:
        made = side.draft(**{side.trade.moment: "2025-03-03T23:30:00-05:00"})
        assert (made[side.trade.dated], made[side.trade.moment]) == (None, "2025-03-04T04:30:00Z")
        assert [entry.on for entry in side.ledger.entries(made)] == ["2025-03-04"]

    @pytest.mark.parametrize("day", ["2025-02-20", "2025-03-20"])
    def test_its_own_date_is_its_day_before_and_after_its_opening(
        self, side: Side, day: str
    ) -> None:
        patient = side.somebody(payment_terms_days=30)
        dated = {side.trade.moment: "2025-03-03T09:00:00Z", side.trade.dated: day}
        made = side.made(side.trade.path, side.trade.body(patient, line(70), **dated))
        assert [entry.on for entry in side.ledger.entries(made)] == [day]
        due = date.fromisoformat(day) + timedelta(days=30)
        assert made["due_at"] == f"{due}T09:00:00Z"
        paid = side.made(
            side.trade.payments,
            side.trade.payment_body(
                patient, 70, payment_date="2025-03-01", allocations=[side.trade.part(made, 70)]
            ),
        )
        applied = max(day, "2025-03-01")
        assert side.read(made)["paid_at"] == f"{applied}T00:00:00Z"
        assert max(entry.on for entry in side.ledger.entries(paid["payment"])) == applied

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
        self, side: Side, quantity: Any, unit_price: int, subtotal: int
    ) -> None:
        made = side.draft(line(unit_price, quantity))
        assert made["line_items"][0]["subtotal"] == made["total_amount"] == subtotal

    @pytest.mark.parametrize(
        ("quantity", "price", "exact", "rounded", "subtotal"),
        [
            (7_000, "16.48", "16.48", 16, 115_360),
            (1, "16.50", "16.5", 17, 17),
            (3, "1000.00", "1000", 1_000, 3_000),
            (1_000_000, "0.000000499999", "0.000000499999", 0, 0),
            ("0.5", "0.999999999999", "0.999999999999", 1, 0),
            (
                1,
                "99999999999998.999999999999",
                "99999999999998.999999999999",
                10**14 - 1,
                10**14 - 1,
            ),
        ],
    )
    def test_a_price_with_parts_of_a_cent_is_exact_and_stays_so(
        self, side: Side, quantity: Any, price: str, exact: str, rounded: int, subtotal: int
    ) -> None:
        item = {"quantity": quantity, "unit_price": None, "unit_price_decimal": price}
        made = side.draft(item)
        [shown] = made["line_items"]
        assert (shown["unit_price_decimal"], shown["unit_price"]) == (exact, rounded)
        assert shown["subtotal"] == made["total_amount"] == subtotal
        assert side.read(made) == made

    def test_a_whole_price_is_answered_in_both_forms(self, side: Side) -> None:
        [shown] = side.draft(line(1_000))["line_items"]
        assert (shown["unit_price"], shown["unit_price_decimal"]) == (1_000, "1000")

    @pytest.mark.parametrize(
        ("prices", "field"),
        [
            ({}, "unit_price"),
            ({"unit_price": 16, "unit_price_decimal": "16.48"}, "unit_price"),
            ({"unit_price_decimal": "16.0000000000001"}, "unit_price_decimal"),
            ({"unit_price_decimal": "1e3"}, "unit_price_decimal"),
            ({"unit_price_decimal": 16.48}, "unit_price_decimal"),
            ({"unit_price_decimal": "100000000000000"}, "unit_price_decimal"),
        ],
    )
    def test_a_line_has_exactly_one_price(
        self, side: Side, prices: dict[str, Any], field: str
    ) -> None:
        refused = side.api.post(side.trade.path, json=side.body({"quantity": 1, **prices}))
        assert refused.status_code == 400
        assert list(refused.json()["detail"]["field_errors"]) == [f"line_items.0.{field}"]

    def test_taxes_and_discounts_come_to_the_cent(self, side: Side) -> None:
        made = side.draft(*TAXED, additional_discount=90)
        assert [each["subtotal"] for each in made["line_items"]] == [1_900, 500, 500]
        # 90 over 1900, 500, 500 is 58.97, 15.52, 15.52; the tax is 20 % of 2400 - 75 = 465.
        assert [each["sales_taxes_total"] for each in made["line_items"]] == [368, 97, 25]
        assert [each["total_amount"] for each in made["line_items"]] == [2_268, 597, 525]
        assert (made["subtotal"], made["discount_total"]) == (2_900, 190)
        assert made["tax_total"] == made["additional_sales_taxes_total"] == 490
        assert made["total_amount"] == 2_900 - 90 + 490

    def test_lines_go_to_the_accounts_they_name(self, side: Side) -> None:
        first, second, tax = self.accounts
        by_id = {"type": "AccountId", "id": side.api.get(f"{CHART}{first}/").json()["id"]}
        lines = (
            line(100, account_identifier=by_id),
            line(200, account_identifier=account(second)),
            line(400, sales_taxes=[{"amount": 7, "tax_account": account(tax)}, {"amount": 8}]),
        )
        made = side.draft(*lines, **{side.trade.moment: side.trade.at})
        assert made["line_items"][0]["account_identifier"]["id"] == by_id["id"]
        [entry] = side.ledger.entries(made)
        amounts = {
            **{side.trade.control: 715, first: -100, second: -200},
            **{side.trade.line: -400, tax: -7, side.trade.tax: -8},
        }
        assert entry.amounts == {code: side.trade.sign * amount for code, amount in amounts.items()}

    def test_lines_of_one_account_are_added_up_and_zero_is_left_out(self, side: Side) -> None:
        made = side.open(line_items=[line(5), line(0), line(6)])
        [entry] = side.ledger.entries(made)
        assert entry.lines == tuple(side.trade.posted(11).items())

    def test_five_hundred_lines_are_one_document_and_one_more_is_refused(self, side: Side) -> None:
        lines = [line(place, tax_rate=20) for place in range(1, 501)]
        made = side.open(line_items=lines)
        assert made["total_amount"] == 125_250 + 25_050
        assert sum(each["sales_taxes_total"] for each in made["line_items"]) == 25_050
        [entry] = side.ledger.entries(made)
        assert entry.amounts == side.trade.posted(125_250, 25_050)
        with side.ledger.untouched():
            answer = side.api.post(side.trade.path, json=side.body(*lines, line(1)))
        assert answer.status_code == 400

    def test_a_total_of_nothing_posts_nothing_and_is_paid_on_its_day(self, side: Side) -> None:
        made = side.open(700, additional_discount=700)
        assert (made["status"], made["total_amount"]) == ("paid", 0)
        assert made["paid_at"] == f"{DAY}T00:00:00Z"
        assert side.ledger.entries(made) == []

    def test_a_document_is_due_after_the_terms_unless_given(self, side: Side) -> None:
        patient = side.somebody(payment_terms_days=30)
        assert side.trade.open(side.shop, patient)["due_at"] == "2025-03-31T09:00:00Z"
        overdue = side.trade.open(side.shop, patient, due_at="2025-03-05T00:00:00Z")
        assert overdue["due_at"] == "2025-03-05T00:00:00Z"
        assert (overdue["status"], overdue["is_overdue"]) == ("overdue", True)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"memo": "other", "line_items": [line(999)]},
            {"{party}_id": NOBODY},
            {"{party}_id": None, "{party}_external_id": "never seen before"},
            {"currency": "EUR"},
        ],
    )
    def test_a_repeat_writes_nothing_whatever_else_it_says(self, side: Side, wrong: Record) -> None:
        name = f"order-{sorted(wrong)}"
        first = side.open(300, external_id=name)
        given = {**side.body(external_id=name), **side.trade.named(wrong)}
        body = {field: value for field, value in given.items() if value}
        with side.ledger.untouched():
            again = side.api.post(side.trade.path, json=body)
        assert (again.status_code, unwarned(again.json())) == (200, first)
        assert again.headers["etag"] == '"1"'

    def test_an_unknown_party_is_made_on_the_way(self, side: Side) -> None:
        named = {f"{side.trade.party}_external_id": "number-77", "line_items": [line()]}
        made = side.made(side.trade.path, named)
        id_ = f"{side.trade.party}_id"
        assert (
            made[side.trade.party]["external_id"] == made[side.trade.party]["name"] == "number-77"
        )
        assert side.made(side.trade.path, named)[id_] == made[id_]
        assert (
            side.made(side.trade.path, {**named, id_: made[id_]})[side.trade.party]
            == made[side.trade.party]
        )
        assert (
            side.api.get(side.trade.of_party(made[side.trade.party])).json()["status"] == "ACTIVE"
        )

    def test_a_number_in_the_series_own_form_moves_the_series(
        self, acme: Partner, trade: Trade
    ) -> None:
        shop = acme.business()
        party, series = trade.somebody(shop), trade.series

        def number(given: str | None = None) -> str:
            facts: Record = {trade.number: given} if given else {}
            made: str = trade.open(shop, party, **facts)[trade.number]
            return made

        assert [number(), number()] == [f"{series}000001", f"{series}000002"]
        assert number(f"{series}000007") == f"{series}000007"
        assert number() == f"{series}000008"
        # A number below the series, or of another form, does not move the series.
        for other in ("2025/17", f"{series}99", f"{series}000003"):
            assert number(other) == other
        shop.made(trade.path, trade.body(party, **{trade.number: f"{series}000010"}))
        assert number() == f"{series}000011"


class TestCreateInvoice(Creation):
    trade = SALES
    nothing = ("payment_allocations", "credit_allocations", "refund_allocations", "write_offs")
    accounts = ("4500", "4600", "2400")

    def test_a_discount_on_the_whole_has_an_account_of_its_own(self, side: Side) -> None:
        invoice = side.open(line_items=list(TAXED), additional_discount=90)
        [entry] = side.ledger.entries(invoice)
        assert entry.amounts == {"1200": 3_300, "4200": 90, "4000": -2_900, "2200": -490}


class TestCreateBill(Creation):
    trade = PURCHASES
    own = ("vendor_bill_number", "terms")
    nothing = (
        "bill_payment_allocations",
        "vendor_credit_allocations",
        "vendor_refund_allocations",
    )
    accounts = ("1500", "6200", "1400")

    def test_without_a_date_it_is_due_after_its_receipt(self, side: Side) -> None:
        patient = side.somebody(payment_terms_days=30)
        undated = side.made(side.trade.path, side.trade.body(patient, received_at=RECEIVED))
        assert undated["due_at"] == "2025-04-02T09:00:00Z"

    def test_discounts_lessen_the_cost_and_taxes_are_recoverable(self, side: Side) -> None:
        # As on an invoice, but the discount on the whole has no account of its own.
        first, second, third = TAXED
        lines = [first, {**second, "account_identifier": account("5000")}, third]
        [entry] = side.ledger.entries(side.open(line_items=lines, additional_discount=90))
        # 90 over 2400 at 20 % and 500 without a code is 74.48 and 15.52: 74 and 16. And 74 over
        # 1900 and 500 is 58.58 and 15.42: 59 and 15.
        assert entry.amounts == {
            **{"6000": 1_900 - 59 + 500 - 16, "5000": 500 - 15},
            **{"1300": 490, "2000": -3_300},
        }
