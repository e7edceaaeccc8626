"""Settlement of returns: the declared tax by account, and the rest on VAT due."""

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

import pytest

from accounting.books.chart import Role
from accounting.books.ledger import Line
from accounting.tax.codes import Direction, Rate, TaxCode, TaxCodes, Treatment
from accounting.tax.commands import Scheme
from accounting.tax.returns import TaxReturn
from accounting.tax.settlements import Amounts, DeclaredTax, entries_for, settlement

NOW = datetime(2025, 5, 1, tzinfo=UTC)
ROLES = {role: UUID(int=place) for place, role in enumerate(Role, start=1)}
OUTPUT, INPUT, DUE, ROUNDING, EQUITY = (
    ROLES[role]
    for role in (
        Role.OUTPUT_TAX,
        Role.INPUT_TAX,
        Role.TAX_DUE,
        Role.ROUNDING,
        Role.OPENING_BALANCE_EQUITY,
    )
)
SOLD, BOUGHT = UUID(int=101), UUID(int=102)


def code(id_: UUID, account: UUID) -> TaxCode:
    return TaxCode(
        id=id_,
        version=1,
        created_at=NOW,
        updated_at=NOW,
        code="X",
        name="X",
        direction=Direction.SALES,
        treatment=Treatment.STANDARD,
        rates=(Rate(Decimal(20)),),
        tax_account_id=account,
        boxes={},
    )


CODES = TaxCodes((code(SOLD, OUTPUT), code(BOUGHT, INPUT)))
FILED = TaxReturn(
    id=UUID(int=200),
    version=1,
    created_at=NOW,
    updated_at=NOW,
    start_date=date(2025, 1, 1),
    end_date=date(2025, 3, 31),
    scheme=Scheme.ACCRUAL,
)


def settled(*declared: DeclaredTax, rounding: int = 0, before: tuple[Amounts, ...] = ()) -> Amounts:
    return settlement(declared, rounding, before, CODES, ROLES)


class TestSettlement:
    def test_the_balance_goes_to_vat_due(self) -> None:
        found = settled(DeclaredTax(SOLD, OUTPUT, -2_000), DeclaredTax(BOUGHT, INPUT, 1_200))
        assert found == {OUTPUT: 2_000, INPUT: -1_200, DUE: -800}

    @pytest.mark.parametrize("rounding", [10, -10])
    def test_what_the_form_rounds_goes_to_rounding(self, rounding: int) -> None:
        found = settled(DeclaredTax(SOLD, OUTPUT, -10_140), rounding=rounding)
        assert found == {OUTPUT: 10_140, DUE: -10_140 + rounding, ROUNDING: -rounding}
        assert sum(found.values()) == 0

    def test_tax_on_opening_equity_leaves_the_account_of_its_code(self) -> None:
        assert settled(DeclaredTax(SOLD, EQUITY, -500)) == {OUTPUT: 500, DUE: -500}

    def test_tax_on_another_account_leaves_that_account(self) -> None:
        other = UUID(int=300)
        assert settled(DeclaredTax(SOLD, other, -500)) == {other: 500, DUE: -500}

    def test_only_the_difference_to_earlier_versions_is_settled(self) -> None:
        before = ({OUTPUT: 2_000, DUE: -2_000}, {OUTPUT: 140, DUE: -140})
        assert settled(DeclaredTax(SOLD, OUTPUT, -2_100), before=before) == {OUTPUT: -40, DUE: 40}
        assert settled(DeclaredTax(SOLD, OUTPUT, -2_140), before=before) == {}


class TestEntriesFor:
    def test_one_entry_on_the_last_day(self) -> None:
        done = replace(FILED, settlement={OUTPUT: 2_000, DUE: -2_000}, reference="R")
        [entry] = entries_for(done, None)
        assert (entry.entry_date, entry.source_id, entry.reference) == (
            FILED.end_date,
            FILED.id,
            "R",
        )
        assert entry.lines == (Line(OUTPUT, 2_000), Line(DUE, -2_000))

    def test_a_locked_day_is_after_the_lock(self) -> None:
        done = replace(FILED, settlement={OUTPUT: 2_000, DUE: -2_000})
        [entry] = entries_for(done, date(2025, 4, 30))
        assert entry.entry_date == date(2025, 5, 1)

    @pytest.mark.parametrize("amounts", [None, {}])
    def test_nothing_settled_posts_nothing(self, amounts: Amounts | None) -> None:
        assert entries_for(replace(FILED, settlement=amounts), None) == []
