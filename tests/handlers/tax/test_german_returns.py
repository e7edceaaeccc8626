"""get_tax_return of a German business: other rates, import VAT, and box 83 with its lines."""

from collections.abc import Iterator

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.journal_entries import credit, marked, taxed
from tests.builders.tax_returns import (
    RETURNS,
    boxes,
    drawn_up,
    explain_themselves,
    filed,
    into_a_box,
    led,
)
from tests.builders.taxed_quarters import bought, of, sold
from tests.builders.trade import Record, line
from tests.partner import Business, Partner


@pytest.fixture
def german(acme: Partner, api_server: ApiServer) -> Iterator[Business]:
    shop = acme.business(country="DE", entity_type="gmbh")
    yield shop
    Ledger(api_server, shop).audit()


def explained(shop: Business, tax_return: Record) -> dict[str, int]:
    """Return what the lines behind each box add up to, without zeros."""
    sums = {each["box"]: into_a_box(led(shop, each)) for each in tax_return["boxes"]}
    return {box: amount for box, amount in sums.items() if amount}


class TestGetTaxReturn:
    def test_rates_of_the_second_half_of_2020_have_boxes_of_their_own(
        self, german: Business
    ) -> None:
        sold(german, "2020-06-30", of("S19", 10_099), of("S7", 2_000))
        sold(german, "2020-07-01", of("S19", 20_050), of("S7", 3_000))
        bought(german, "2020-06-15", of("PG19", 1_000))
        bought(german, "2020-08-15", of("PG19", 40_000), of("P19", 5_000), of("PR19", 100))
        draft = german.made(
            RETURNS, {"start_date": "2020-06-01", "end_date": "2020-08-31", "scheme": "accrual"}
        )
        expected = {
            "35": 23_000,  # 200.50 at 16 % and 30.00 at 5 %, in whole euros
            "36": 3_208 + 150,
            "61": 190 + 6_400,
            "66": 800,
            "67": 16,
            "81": 10_000,
            "84": 100,
            "85": 16,
            "86": 2_000,
            "89": 1_000,
            "95": 40_000,
            "98": 6_400,
        }
        owed = 1_900 + 140 + 190 + 3_358 + 6_400 + 16
        assert boxes(draft) == expected | {"83": owed - 6_590 - 800 - 16}
        assert draft["tax_due_cents"] == owed + 19 - 6_590 - 800 - 16  # 100.99 have 19.19 of tax
        lines = explained(german, draft)
        exact = {"35": 23_050, "81": 10_099, "83": draft["tax_due_cents"]}
        assert lines == expected | exact
        explain_themselves(german, {**draft, "boxes": []})

    def test_a_later_change_of_the_rate_keeps_a_late_line_in_its_box(
        self, german: Business
    ) -> None:
        sold(german, "2020-12-31", of("S19", 10_000))
        done = german.made(
            RETURNS, {"start_date": "2020-10-01", "end_date": "2020-12-31", "scheme": "accrual"}
        )
        filed(german, done)
        sold(german, "2020-12-31", of("S19", 700))
        sold(german, "2021-01-01", of("S19", 300))
        draft = german.made(
            RETURNS, {"start_date": "2021-01-01", "end_date": "2021-03-31", "scheme": "accrual"}
        )
        assert boxes(draft) == {"35": 700, "36": 112, "81": 300, "83": 112 + 57}
        assert explained(german, draft) == {"35": 700, "36": 112, "81": 300, "83": 169}

    def test_import_vat_paid_to_customs_lowers_the_sum(self, german: Business) -> None:
        customs = [{"tax_code": "PI", "amount": 3_800}]
        bought(german, "2025-01-20", line(0, sales_taxes=customs), line(500, tax_code="PE"))
        taxed(german, "2025-01-21", marked("1300", 200, "PI", "input"), credit("2400", 200))
        draft = drawn_up(german)
        assert boxes(draft) == {"62": 4_000, "83": -4_000}
        done = filed(german, draft)
        assert boxes(done) == {"62": 4_000, "83": -4_000}

    def test_a_form_without_amounts_has_its_sum(self, german: Business) -> None:
        draft = drawn_up(german)
        assert [(each["box"], each["amount_cents"]) for each in draft["boxes"]] == [("83", 0)]

    def test_relief_lowers_the_base_and_the_sum(self, german: Business) -> None:
        invoice = sold(german, "2025-01-10", of("S19", 10_000))
        german.made(
            f"invoices/{invoice['id']}/write-offs/",
            {"amount_cents": 5_950, "tax_relief": True, "write_off_at": "2025-02-01T00:00:00Z"},
        )
        draft = drawn_up(german)
        assert boxes(draft) == {"81": 5_000, "83": 950}
        filed(german, draft)
