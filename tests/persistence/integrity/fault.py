"""Faults of the books, and the names of tables and checks of each side."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from persistence.integrity.definitions import PURCHASES, SALES, SideTables

Fault = tuple[str, set[str]]
Faults = dict[str, Fault]


@dataclass(frozen=True)
class Side:
    """The names of a side; `control`, `prepayments`, `credits` and `refunds` are its accounts."""

    tables: SideTables
    party: str
    document: str
    payment: str
    credit: str
    refund: str
    control: str
    prepayments: str
    credits: str
    refunds: str
    cleared: frozenset[str] = frozenset()

    @property
    def other(self) -> str:
        """The query for another party."""
        return called(self.party, "brewer")

    def of_document(self, *checks: str) -> set[str]:
        """Name the checks of documents."""
        return {f"{self.tables.document}_{check}" for check in checks}

    def of_money(self, *checks: str) -> set[str]:
        """Name the checks of payments."""
        return {f"{self.tables.payments}{check}" for check in checks}

    def of_credit(self, *checks: str) -> set[str]:
        """Name the checks of credits."""
        return {f"{self.tables.credits}_{check}" for check in checks}

    def of_refund(self, *checks: str) -> set[str]:
        """Name the checks of refunds."""
        return {f"{self.tables.refunds}_{check}" for check in checks}

    def of_targets(self, *checks: str) -> set[str]:
        """Name the checks of refund targets, on the side where a refund may have several."""
        return self.of_refund(*checks) if self.tables.refunds_paid_later else set()


SOLD = Side(
    SALES,
    party="customer",
    document="an invoice",
    payment="a payment",
    credit="a credit",
    refund="a refund",
    control="receivables",
    prepayments="prepayments",
    credits="credits",
    refunds="refunds",
    cleared=frozenset({"clearing"}),
)
BOUGHT = Side(
    PURCHASES,
    party="vendor",
    document="a bill",
    payment="a bill payment",
    credit="a vendor credit",
    refund="a vendor refund",
    control="payables",
    prepayments="vendor_prepayments",
    credits="vendor_credits",
    refunds="vendor_refunds",
)

POSTED = {"posted_as_desired"}


def changed_tables(statement: str) -> set[str]:
    """Name the tables that a statement changes."""
    return set(re.findall(r"(?:UPDATE|DELETE FROM|INSERT INTO) (\w+)", statement))


def moved_tables(statement: str) -> set[str]:
    """Name the tables to which a statement adds rows, or from which it takes some."""
    return set(re.findall(r"(?:DELETE FROM|INSERT INTO) (\w+)", statement))


def role(name: str) -> str:
    """Return the query for the account with a role."""
    return f"(SELECT id FROM account WHERE business_id = %(b)s AND role = '{name}')"


def coded(code: str) -> str:
    """Return the query for the account with a code."""
    return f"(SELECT id FROM account WHERE business_id = %(b)s AND code = '{code}')"


def called(table: str, external_id: str) -> str:
    """Return the query for the row with an external id."""
    return f"(SELECT id FROM {table} WHERE business_id = %(b)s AND external_id = '{external_id}')"


def change(table: str, changed: str, which: str) -> str:
    """Return a statement that changes rows of a business."""
    return f"UPDATE {table} SET {changed} WHERE business_id = %(b)s AND {which}"


def planted(table: str, changed: str, which: str, *checks: str) -> Fault:
    """Return a change of rows of a business, with the checks that find it."""
    return change(table, changed, which), set(checks)


def elsewhere(table: str, split: str, which: str, *, place: Iterable[int] = (0, 0)) -> str:
    """Return a change of a split's part, by default the first, to an unknown account."""
    path = ",".join(str(each) for each in place)
    moved = f"{split} = jsonb_set({split}, '{{{path}}}', to_jsonb(id::text))"
    return change(table, moved, which)
