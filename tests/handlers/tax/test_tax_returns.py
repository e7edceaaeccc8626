"""Tax returns that are created and read, and their lists of lines."""

import pytest

from tests.builders.journal_entries import ENTRIES, credit, debit, marked, moved, taxed
from tests.builders.tax_codes import CODES, code_body, codes_of
from tests.builders.tax_returns import (
    NET,
    ON,
    RETURNS,
    boxes,
    brought,
    codes,
    drawn_up,
    explain_themselves,
    filed,
    into_a_box,
    lines,
    read,
    return_body,
    said,
    sale,
)
from tests.builders.trade import Record
from tests.partner import Business, Partner


class TestCreateTaxReturn:
    def test_a_draft_has_the_figures_of_the_books(self, books: Business) -> None:
        sale(books)
        answer = books.api.post(RETURNS, json=return_body())
        draft = answer.json()
        assert (answer.status_code, answer.headers["etag"]) == (201, '"1"')
        assert answer.headers["location"].endswith(f"{RETURNS}{draft['id']}/")
        absent = ("filed_at", "reference", "reason", "supersedes_id", "superseded_by_id")
        shown = {
            **return_body(),
            **dict.fromkeys(absent),
            **dict.fromkeys(("unapplied_cents", "unapplied_paid_cents"), 0),
            "status": "draft",
            "tax_due_cents": 2_000,
            "late": [],
            "uncoded": [],
            "withheld_by_customers_cents": 0,
            "withheld_from_vendors_cents": 0,
        }
        assert {name: draft[name] for name in shown} == shown
        assert boxes(draft) == {"1": 2_000, "3": 2_000, "5": 2_000, "6": 10_000}
        assert codes(draft["codes"]) == {"S20": {"net": 10_000, "output": 2_000}}
        assert read(books, draft) == draft

    def test_a_return_may_be_of_any_days(self, books: Business) -> None:
        sale(books)
        for first, last in ((ON, ON), ("2024-12-01", "2030-01-01")):
            draft = books.made(RETURNS, return_body(start_date=first, end_date=last))
            assert codes(draft["codes"])["S20"]["net"] == NET
        for first, last in (("2025-04-01", "2025-04-30"), ("2024-01-01", "2025-03-30")):
            draft = books.made(RETURNS, return_body(start_date=first, end_date=last))
            assert (boxes(draft), draft["codes"]) == ({}, [])

    @pytest.mark.parametrize(
        ("facts", "fault"),
        [
            ({"end_date": "2024-12-31"}, "must not be before start_date"),
            ({"end_date": "2035-01-05"}, "must be at most ten years after start_date"),
        ],
    )
    def test_a_period_is_in_order_and_at_most_ten_years_long(
        self, books: Business, facts: Record, fault: str
    ) -> None:
        answer = books.api.post(RETURNS, json=return_body(**facts))
        assert said(answer) == (400, "validation_error")
        assert answer.json()["detail"]["field_errors"] == {"end_date": [fault]}

    def test_an_entry_that_is_taken_back_is_taken_back_on_its_day(self, books: Business) -> None:
        entry = sale(books)
        moved(books, entry, "reverse", json={"entry_date": "2025-04-10"})
        assert boxes(drawn_up(books, 1))["1"] == 2_000
        second = drawn_up(books, 2)
        assert boxes(second) == {"1": -2_000, "3": -2_000, "5": 2_000, "6": -10_000}

    def test_a_return_reports_uncoded_amounts(self, books: Business) -> None:
        bare = [debit("1300", 340), credit("2200", 20), credit("2400", 320)]
        books.made(ENTRIES, {"entry_date": ON, "lines": bare, "post": True})
        uncoded = drawn_up(books)["uncoded"]
        shown = [(each["account_code"], each["amount_cents"]) for each in uncoded]
        assert shown == [("1300", 340), ("2200", -20)]

    def test_whole_pounds_drop_what_is_over(self, books: Business) -> None:
        sale(books, net=12_345)
        assert boxes(drawn_up(books))["6"] == 12_300

    def test_a_return_reports_withheld_tax(self, books: Business) -> None:
        for code, direction in (("SW", "sales"), ("PW", "purchases")):
            books.made(CODES, code_body(code, direction=direction, treatment="withholding"))
        taxed(books, ON, marked("1310", 150, "SW", "withheld"))
        taxed(books, ON, marked("2210", -70, "PW", "withheld"))
        draft = drawn_up(books)
        assert draft["withheld_by_customers_cents"] == 150
        assert draft["withheld_from_vendors_cents"] == 70

    def test_relief_of_a_sale_is_reclaimed_and_owed_again(self, books: Business) -> None:
        relieved = marked("2200", 1_000, "S20", "relief")
        entry = taxed(books, ON, relieved, marked("6200", 5_000, "S20", "relief_net"))
        assert boxes(drawn_up(books)) == {"4": 1_000, "5": 1_000}
        moved(books, entry, "reverse", json={"entry_date": "2025-04-10"})
        assert boxes(drawn_up(books, 2)) == {"1": 1_000, "3": 1_000, "5": 1_000}

    def test_boxes_of_a_code_are_its_own(self, acme: Partner) -> None:
        shop = acme.business(country="NL", entity_type="bv")
        shop.made(CODES, code_body("OWN", boxes={"net": ["1a", "12"], "output": ["5b"]}))
        net = credit("4000", 12_345, tax_code="OWN")
        taxed(shop, ON, net, marked("2200", -2_469, "OWN", "output"))
        draft = drawn_up(shop)
        assert boxes(draft) == {"12": 12_300, "1a": 12_300, "5b": 2_469}
        explain_themselves(shop, draft)


class TestListTaxReturns:
    def test_the_latest_period_comes_first(self, books: Business) -> None:
        made = [drawn_up(books, quarter) for quarter in (2, 1, 3)]
        filed(books, made[1])
        found = books.api.get(RETURNS).json()["results"]
        assert [each["start_date"] for each in found] == ["2025-07-01", "2025-04-01", "2025-01-01"]
        assert "boxes" not in found[0]
        for query, many in (
            ({"status": "filed"}, 1),
            ({"scheme": "cash"}, 0),
            ({"start_date_from": "2025-04-01", "start_date_to": "2025-04-01"}, 1),
        ):
            assert len(books.api.get(RETURNS, params=query).json()["results"]) == many


class TestGetTaxReturn:
    def test_a_filed_return_stays_unchanged_after_later_postings(self, books: Business) -> None:
        sale(books)
        done = filed(books, drawn_up(books))
        sale(books)
        code = codes_of(books)["S20"]
        books.api.patch(f"{CODES}{code['id']}/", json={"boxes": {}, "name": "Changed"})
        assert read(books, done) == done


class TestListTaxReturnEntries:
    def test_a_line_shows_its_shares(self, books: Business) -> None:
        entry = sale(books)
        [line] = lines(books, drawn_up(books), box="6")
        [net] = [each for each in entry["lines"] if each["tax_part"] == "net"]
        of_entry = ("sequence_number", "entry_date", "description", "reference", "source_type")
        of_line = ("id", "account_id", "account_code", "account_name")
        [share] = line["shares"]
        assert line == {
            **{name: entry[name] for name in (*of_entry, "source_id", "created_at")},
            **{name: net[name] for name in of_line},
            "journal_entry_id": entry["id"],
            "shares": [share],
        }
        assert share == {
            "tax_code_id": net["tax_code_id"],
            "tax_code": "S20",
            "tax_rate": 20,
            "tax_part": "net",
            "is_transition": False,
            "debit_amount": 0,
            "credit_amount": NET,
            "amount_cents": NET,
        }

    def test_each_share_has_the_sign_that_it_has_in_its_box(self, books: Business) -> None:
        sale(books)
        taxed(books, ON, marked("4000", 2_000, "S20", "net"), marked("2200", 400, "S20", "output"))
        net, owed = marked("6000", 30_000, "PA20", "net"), marked("2200", -6_000, "PA20", "output")
        taxed(books, ON, net, owed, marked("1300", 6_000, "PA20", "input"))
        draft = drawn_up(books)
        shown = {"1": 7_600, "3": 7_600, "4": 6_000, "5": 1_600, "6": 38_000, "7": 30_000}
        assert boxes(draft) == shown
        for box, amount in shown.items():
            assert into_a_box(lines(books, draft, box=box)) == amount
        explain_themselves(books, draft)

    def test_filters_select_lines(self, books: Business) -> None:
        sale(books)
        sale(books, "2025-02-01", 500)
        draft = drawn_up(books)
        code = codes_of(books)["S20"]["id"]
        for query, amount in (
            ({}, -12_600),
            ({"tax_code": "S20"}, -12_600),
            ({"tax_code": code, "tax_part": "output"}, -2_100),
            ({"tax_code": "S5"}, 0),
            ({"tax_code": "none"}, 0),
            ({"box": "7"}, 0),
            ({"box": "none"}, 0),
            ({"date_from": "2025-03-01"}, -12_000),
            ({"is_late": True}, 0),
            ({"is_late": False}, -12_600),
        ):
            assert brought(lines(books, draft, **query)) == amount

    def test_relief_and_what_takes_it_back_are_behind_different_boxes(
        self, books: Business
    ) -> None:
        entry = taxed(books, ON, marked("2200", 1_000, "S20", "relief"))
        moved(books, entry, "reverse", json={"entry_date": ON})
        draft = drawn_up(books)
        assert boxes(draft) == {"1": 1_000, "3": 1_000, "4": 1_000}
        assert brought(lines(books, draft, box="4")) == 1_000
        assert brought(lines(books, draft, box="1")) == -1_000

    def test_a_filed_return_lists_what_it_had(self, books: Business) -> None:
        sale(books)
        done = filed(books, drawn_up(books))
        sale(books, net=700)
        assert brought(lines(books, done)) == -12_000
        later = drawn_up(books, 2)
        assert brought(lines(books, later, is_late=True)) == -840
        assert lines(books, later, is_late=False) == []
