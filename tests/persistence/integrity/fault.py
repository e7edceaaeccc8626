"""How faults are written, and what the tables and checks of each side are called in them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from persistence.integrity.definitions import PURCHASES, SALES, SideTables

Fault = tuple[str, set[str]]
Faults = dict[str, Fault]


@dataclass(frozen=True)
class Side:
    """One side in words; `control`, `prepayments`, `credits` and `refunds` name its accounts."""

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
        """Somebody else to trade with."""
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
        """Name those of what refunds give back of, where these may be several things."""
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


def role(name: str) -> str:
    """The account with a role."""
    return f"(SELECT id FROM account WHERE business_id = %(b)s AND role = '{name}')"


def coded(code: str) -> str:
    """The account with a code."""
    return f"(SELECT id FROM account WHERE business_id = %(b)s AND code = '{code}')"


def called(table: str, external_id: str) -> str:
    """The id of the row that the trade gave an id of its own."""
    return f"(SELECT id FROM {table} WHERE business_id = %(b)s AND external_id = '{external_id}')"


def change(table: str, changed: str, which: str) -> str:
    """Change the rows of a business."""
    return f"UPDATE {table} SET {changed} WHERE business_id = %(b)s AND {which}"


def planted(table: str, changed: str, which: str, *checks: str) -> Fault:
    """A change of the rows of a business, with the checks that find it."""
    return change(table, changed, which), set(checks)


def elsewhere(table: str, split: str, which: str, *, place: Iterable[int] = (0, 0)) -> str:
    """Let a part of a split, by default the first, stand on an account that is nobody's."""
    path = ",".join(str(each) for each in place)
    moved = f"{split} = jsonb_set({split}, '{{{path}}}', to_jsonb(id::text))"
    return change(table, moved, which)
