"""What psycopg raises, turned into what callers can be told."""

import re
from collections.abc import Mapping

from psycopg import DataError, Error, IntegrityError, InterfaceError, OperationalError, errors

from accounting.errors import Conflict, Malformed, Refusal, RuleBroken, Unavailable
from accounting.values import dataclass

# The whole handler may run again after these: nothing of it was kept.
RETRIED = (errors.SerializationFailure, errors.DeadlockDetected)

# How a replacement of rows fails in the database where one of them is not as it was loaded: it
# divides by whether all are. No other statement of a writing divides.
STALE = errors.DivisionByZero


@dataclass(frozen=True, slots=True)
class _Broken:
    code: str
    message: str


_UNIQUE = {
    "invoice_business_id_number_key": _Broken(
        "duplicate_invoice_number", "Another invoice of this business has this number."
    ),
    "customer_credit_business_id_number_key": _Broken(
        "duplicate_credit_note_number", "Another credit note of this business has this number."
    ),
    "bill_business_id_number_key": _Broken(
        "duplicate_bill_number", "Another bill of this business has this number."
    ),
    "bill_party_number_key": _Broken(
        "duplicate_bill_number", "Another bill of this vendor has this vendor_bill_number."
    ),
    "vendor_credit_business_id_number_key": _Broken(
        "duplicate_vendor_credit_number", "Another vendor credit of this business has this number."
    ),
    "account_business_id_code_key": _Broken(
        "duplicate_account_code", "Another account of this business has this code."
    ),
    "tax_code_business_id_code_key": _Broken(
        "duplicate_tax_code", "Another tax code of this business has this code."
    ),
    "tax_return_business_id_supersedes_id_key": _Broken(
        "already_superseded", "Another return already supersedes this return."
    ),
    "bank_account_business_id_account_id_key": _Broken(
        "account_taken", "Another bank account uses this account. Choose another account."
    ),
    "opening_balance_opened_on_key": _Broken(
        "duplicate_opening_balance", "The books already have an opening balance on this day."
    ),
    "journal_entry_business_id_reversal_of_id_key": _Broken(
        "already_reversed", "The entry is already reversed."
    ),
}
# Only of documents that are deleted: what names one holds it first.
_NAMED = {
    "customer_credit_business_id_source_document_id_fkey": _Broken(
        "invoice_has_allocations", "A customer credit names the invoice as its source."
    ),
    "vendor_credit_business_id_source_document_id_fkey": _Broken(
        "bill_has_allocations", "A vendor credit names the bill as its source."
    ),
}
_EXTERNAL_ID = "_external_id_key"
# How triggers say that a reconciled statement of a bank holds what a change would alter.
_RECONCILED = frozenset(
    {"journal_line_after_reconciliation", "bank_link_reconciled", "linked_money_reconciled"}
)


class UnsafeDatabase(Exception):
    """The database would let this server lose or rewrite what it has promised to keep."""


class UnusableDatabase(Exception):
    """The database cannot be reached, or stands at no schema of ours."""


class DatabaseAway(UnusableDatabase):
    """Nobody answers where the database should be; that may pass."""


class ReadOnly(OperationalError):
    """The database answers and takes no writing: a standby, or a primary that was set so."""


class StaleRow(Exception):
    """A row changed between its lock and its update: the handler runs again."""


# How the database says which constraint is broken. On many machines nothing else tells it: there a
# table has a number behind its name on each, and so have its constraints.
_CONSTRAINT = re.compile(r'constraint "(\w+?)(?:_[0-9]{6,})?"')


def broken_constraint(error: Error) -> str:
    """Name the constraint that a statement broke; nothing where the error is another."""
    if error.diag.constraint_name:
        return error.diag.constraint_name
    found = _CONSTRAINT.search(error.diag.message_primary or "")
    return found[1] if found else ""


def external_id_raced_for(error: Exception) -> str | None:
    """Name the key of an external id that two requests brought at the same moment, else None."""
    name = broken_constraint(error) if isinstance(error, errors.UniqueViolation) else None
    return name if name is not None and name.endswith(_EXTERNAL_ID) else None


def refusal_of(error: Exception) -> Refusal | None:
    """Say an error of the database as a refusal; None means that it is a fault of ours.

    A refusal for a value that the contract let through (DataError) is right for the caller and
    still a hole in the contract: the server logs it.
    """
    if isinstance(error, errors.UniqueViolation):
        return _unique(error)
    if isinstance(error, errors.CheckViolation):
        return _check(error)
    if isinstance(error, errors.ForeignKeyViolation):
        return _said(_NAMED, error)
    if isinstance(error, IntegrityError):
        return None
    if isinstance(error, DataError | UnicodeEncodeError):
        return Malformed("bad_request", "A value cannot be stored.")
    # Another server is the primary now, or is about to be.
    if isinstance(error, OperationalError | InterfaceError | errors.ReadOnlySqlTransaction):
        return unavailable()
    return None


def away(error: Exception) -> DatabaseAway | None:
    """Say to an operator that the database went away; None means that it is something else."""
    if isinstance(error, OperationalError | InterfaceError):
        return DatabaseAway(f"The database does not answer any more: {first_line(error)}")
    return None


def first_line(error: Exception) -> str:
    """Take the first line of what psycopg says: it has more for each address that was tried."""
    return str(error).strip().partition("\n")[0]


def unavailable() -> Unavailable:
    """The refusal for a database that is away, full, slow or overtaken too often."""
    return Unavailable(
        "service_unavailable",
        "The books cannot be reached now. Repeat the request with the same Idempotency-Key.",
        retry_after_seconds=1,
    )


def _unique(error: errors.UniqueViolation) -> Refusal | None:
    if external_id_raced_for(error):
        return Conflict("duplicate_external_id", "Another resource has this external_id.")
    return _said(_UNIQUE, error)


def _said(known: Mapping[str, _Broken], error: IntegrityError) -> Refusal | None:
    broken = known.get(broken_constraint(error))
    return Conflict(broken.code, broken.message) if broken else None


def _check(error: errors.CheckViolation) -> Refusal | None:
    name = broken_constraint(error)
    if name == "journal_entry_after_lock_date":
        return Conflict("period_locked", "The period of this date is locked.")
    if name in _RECONCILED:
        return Conflict(
            "bank_reconciled",
            "The change affects a reconciled bank statement. Reopen the statement first.",
        )
    if name.endswith("_not_over_allocated_check"):
        return RuleBroken(
            "allocation_exceeds_outstanding", "The allocation exceeds the amount left to settle."
        )
    if name.endswith("_credit_within_total_check"):
        return RuleBroken("allocation_exceeds_total", "The allocations exceed the total.")
    return None
