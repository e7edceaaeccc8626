"""The tax that a return declares, by account, and the settlements of its earlier versions."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from accounting.books.chart import Roles
from accounting.tax.cash_schemes import CountedCodes
from accounting.tax.returns import JournalRange, TaxReturn
from accounting.tax.settlements import TAXES, Amounts, DeclaredTax
from persistence.engine.sql import Fetch, Query
from persistence.scope import Scope
from persistence.tax import coded_amounts, slice_lines

# The settlements of all versions of a return: no other return is filed on the same days.
SETTLED = """
SELECT settlement FROM tax_return
WHERE tax_return.business_id = %(business_id)s AND status <> 'draft'
  AND start_date = %(start_date)s AND end_date = %(end_date)s AND settlement IS NOT NULL"""


class DeclaredTaxes:
    """The amounts from which the settlements of one business are computed."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def declared(
        self,
        slices: Sequence[JournalRange],
        transition: Sequence[JournalRange],
        counted: CountedCodes,
        roles: Roles,
        declared: Sequence[JournalRange],
    ) -> Fetch[list[DeclaredTax]]:
        """Add up the tax in slices of the journal by code and account, line by line."""
        text = coded_amounts.DECLARED_WHEN_POSTED
        if declared:
            text = coded_amounts.DECLARED_BY_SCHEME
        elif counted.when_settled:
            text = coded_amounts.DECLARED_BOTH
        asked = {
            **coded_amounts.counting(counted, roles, declared),
            "taxes": sorted(TAXES),
            "business_id": self.scope.business_id,
        }
        queries = [Query(text, asked | slice_lines.sliced(slices, None), once=True)]
        if transition:
            moved = asked | slice_lines.sliced(transition, None)
            queries.append(Query(coded_amounts.DECLARED_UNSETTLED, moved, once=True))
        return Fetch(
            self.scope.session,
            tuple(queries),
            lambda answers: [
                DeclaredTax(row["code_id"], row["on_account"], row["amount"])
                for rows in answers
                for row in rows
            ],
        )

    def settled(self, days: TaxReturn) -> Fetch[list[Amounts]]:
        """Load the settlements of all versions of a return."""
        asked = {"start_date": days.start_date, "end_date": days.end_date}
        query = Query(SETTLED, {"business_id": self.scope.business_id, **asked})
        return Fetch(
            self.scope.session,
            (query,),
            lambda answers: [amounts_of(row["settlement"]) for row in answers[0]],
        )


def amounts_of(stored: Mapping[str, int]) -> Amounts:
    """Parse amounts by account from JSON."""
    return {UUID(account): amount for account, amount in stored.items()}
