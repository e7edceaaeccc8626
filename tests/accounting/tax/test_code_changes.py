from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from accounting.books.ledger import TaxPart
from accounting.tax.code_changes import account_references, archived, changed, created, displaced
from accounting.tax.codes import Direction, Rate, Treatment
from accounting.tax.commands import ChangeTaxCode, CreateTaxCode
from tests.accounting.samples import ACCOUNTS, BORN, account_id, context_of, moment, named, refused
from tests.accounting.tax.test_codes import code_of, percent

SALES, PURCHASES = Direction.SALES, Direction.PURCHASES
TWENTY = code_of("S20", percent("20"))
NOW = context_of("10")
BASICS: dict[str, Any] = {
    "code": "S20",
    "name": "Sales 20 %",
    "direction": SALES,
    "treatment": Treatment.STANDARD,
    "rates": (percent("20"),),
}


def order(**facts: Any) -> CreateTaxCode:
    return CreateTaxCode(**{**BASICS, **facts})


def change(in_use: bool = False, **facts: Any) -> Any:
    return changed(TWENTY, ChangeTaxCode(**facts), in_use, ACCOUNTS, NOW)


def fault_of(**facts: Any) -> dict[str, list[str]]:
    refusal = refused(created, order(**facts), ACCOUNTS, NOW)
    assert refusal.code == "validation_error"
    faults: dict[str, list[str]] = refusal.detail["field_errors"]
    return faults


class TestCreated:
    def test_account_references_are_the_named_tax_account(self) -> None:
        assert account_references(order(tax_account=named("2400"))) == {named("2400")}
        assert account_references(order()) == account_references(ChangeTaxCode()) == frozenset()

    @pytest.mark.parametrize(
        ("facts", "account"),
        [
            ({}, "2200"),
            ({"direction": PURCHASES, "treatment": Treatment.REVERSE_CHARGE}, "1300"),
            ({"treatment": Treatment.WITHHOLDING}, "1310"),
            ({"direction": PURCHASES, "treatment": Treatment.WITHHOLDING}, "2210"),
            ({"tax_account": named("2400")}, "2400"),
        ],
    )
    def test_a_code_has_a_tax_account(self, facts: dict[str, Any], account: str) -> None:
        assert created(order(**facts), ACCOUNTS, NOW).tax_account_id == account_id(account)

    @pytest.mark.parametrize(
        ("account", "code"), [("9999", "reference_not_found"), ("1200", "control_account")]
    )
    def test_an_account_that_may_not_be_given_is_refused(self, account: str, code: str) -> None:
        assert refused(created, order(tax_account=named(account)), ACCOUNTS, NOW).code == code

    def test_rates_come_in_the_order_of_their_days(self) -> None:
        rates = (percent("9", "2024-01-01"), percent("8", "2023-01-01", "2023-12-31"))
        assert created(order(rates=rates), ACCOUNTS, NOW).rates == rates[::-1]

    def test_a_part_without_boxes_is_left_out(self) -> None:
        boxes = {TaxPart.NET: ("6",), TaxPart.OUTPUT: ()}
        assert created(order(boxes=boxes), ACCOUNTS, NOW).boxes == {TaxPart.NET: ("6",)}

    @pytest.mark.parametrize("treatment", [Treatment.ACQUISITION, Treatment.IMPORT_POSTPONED])
    def test_a_treatment_of_purchases_is_refused_on_sales(self, treatment: Treatment) -> None:
        assert fault_of(treatment=treatment) == {"treatment": [f"cannot be {treatment} on sales"]}

    @pytest.mark.parametrize(
        "treatment",
        [Treatment.ZERO, Treatment.EXEMPT, Treatment.OUT_OF_SCOPE, Treatment.REVERSE_CHARGE],
    )
    def test_a_rate_is_refused_where_no_tax_is_charged(self, treatment: Treatment) -> None:
        fault = f"must be 0 for {treatment} on sales"
        assert fault_of(treatment=treatment) == {"rates.0.rate": [fault]}

    def test_a_treatment_that_is_not_charged_cannot_be_the_default(self) -> None:
        fault = "must be false for the treatment withholding"
        faults = fault_of(treatment=Treatment.WITHHOLDING, is_default=True)
        assert faults == {"is_default": [fault]}

    def test_a_period_that_ends_before_it_starts_is_refused(self) -> None:
        faults = fault_of(rates=(percent("20", "2026-01-02", "2026-01-01"),))
        assert faults == {"rates.0.valid_to": ["must not be before valid_from"]}

    @pytest.mark.parametrize(
        "other",
        [
            percent("19"),
            percent("19", "2026-01-31"),
            percent("19", None, "2026-01-01"),
            percent("19", "2026-01-10", "2026-01-20"),
        ],
    )
    def test_periods_that_overlap_are_refused(self, other: Rate) -> None:
        assert fault_of(rates=(percent("20", "2026-01-01", "2026-01-31"), other)) == {
            "rates.1.valid_from": ["must not overlap rates.0"]
        }

    def test_periods_may_follow_one_another_in_any_order(self) -> None:
        rates = (percent("19", "2026-02-01"), percent("20", "2026-01-01", "2026-01-31"))
        assert len(created(order(rates=rates), ACCOUNTS, NOW).rates) == 2


class TestChanged:
    def test_nothing_that_differs_leaves_it_as_it_is(self) -> None:
        assert change(name="S20", rates=(percent("20"),), boxes=TWENTY.boxes) is TWENTY

    def test_given_facts_are_changed(self) -> None:
        found = change(code="V20", name="VAT", tax_account=named("2400"), is_default=True)
        assert (found.code, found.name, found.is_default) == ("V20", "VAT", True)
        assert (found.tax_account_id, found.updated_at) == (account_id("2400"), moment("10"))

    def test_an_unused_code_changes_its_kind_and_its_past(self) -> None:
        rates = (percent("5"),)
        found = change(direction=PURCHASES, treatment=Treatment.REDUCED, rates=rates)
        assert (found.direction, found.treatment) == (PURCHASES, Treatment.REDUCED)
        assert found.rates == rates

    def test_a_change_is_held_to_the_same_rules(self) -> None:
        assert refused(change, treatment=Treatment.ACQUISITION).code == "validation_error"
        assert refused(change, treatment=Treatment.ZERO).code == "validation_error"

    @pytest.mark.parametrize(
        "facts",
        [
            {"direction": PURCHASES},
            {"treatment": Treatment.REDUCED},
            {"rates": (percent("19"),)},
            {"rates": (percent("20", "2020-01-01"),)},
            {"rates": (percent("20", None, "2026-01-09"),)},
            {"rates": (Rate(Decimal(20), Decimal(50)),)},
            {"rates": (percent("20", None, "2026-01-09"), percent("21", "2026-01-10"))},
        ],
    )
    def test_the_past_of_one_in_use_stays(self, facts: dict[str, Any]) -> None:
        refusal = refused(change, in_use=True, **facts)
        assert (refusal.code, refusal.detail["fields"]) == ("tax_code_in_use", [*facts])

    @pytest.mark.parametrize(
        "facts",
        [
            {"code": "V20", "name": "VAT", "boxes": {}, "tax_account": named("2400")},
            {"direction": SALES, "treatment": Treatment.STANDARD, "rates": (percent("20"),)},
            {"rates": (percent("20", None, "2026-01-10"),)},
            {"rates": (percent("20", None, "2026-01-10"), percent("22", "2026-01-11"))},
            {"rates": (percent("20", None, "2026-12-31"), percent("22", "2027-01-01"))},
            {"active": False},
        ],
    )
    def test_future_rates_of_a_code_in_use_can_change(self, facts: dict[str, Any]) -> None:
        assert change(in_use=True, **facts) is not None

    def test_a_code_made_inactive_is_archived_and_no_default(self) -> None:
        found = changed(
            replace(TWENTY, is_default=True), ChangeTaxCode(active=False), True, ACCOUNTS, NOW
        )
        assert (found.archived_at, found.is_default) == (moment("10"), False)

    def test_an_archived_code_is_restored_and_no_default_before(self) -> None:
        gone = replace(TWENTY, archived_at=BORN)
        back = changed(gone, ChangeTaxCode(active=True), True, ACCOUNTS, NOW)
        kept = changed(gone, ChangeTaxCode(name="gone"), True, ACCOUNTS, NOW)
        assert (back.archived_at, kept.archived_at) == (None, BORN)
        command = ChangeTaxCode(is_default=True)
        refusal = refused(changed, gone, command, False, ACCOUNTS, NOW)
        assert refusal.code == "tax_code_archived"


class TestDefault:
    def test_an_archived_code_is_no_default(self) -> None:
        gone = archived(replace(TWENTY, is_default=True), NOW)
        assert (gone.archived_at, gone.updated_at, gone.is_default) == (NOW.now, NOW.now, False)
        assert archived(gone, context_of("11")) is gone

    def test_a_new_default_displaces_that_of_its_direction(self) -> None:
        default = replace(TWENTY, is_default=True)
        bought = code_of("P20", percent("20"), direction=PURCHASES, is_default=True)
        new = code_of("S5", percent("5"), is_default=True)
        given_way = replace(TWENTY, updated_at=moment("10"))
        assert displaced(new, [default, bought, new], NOW) == [given_way]
        assert displaced(replace(new, is_default=False), [default], NOW) == []
