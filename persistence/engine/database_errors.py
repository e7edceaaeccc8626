"""Errors of psycopg, and the API errors that they become."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from psycopg import DataError, Error, IntegrityError, InterfaceError, OperationalError, errors

from accounting.errors import ApiError, Conflict, Outage, RuleViolation, ValidationError

# The whole handler may run again after these: nothing was stored.
RETRIED = (errors.SerializationFailure, errors.DeadlockDetected)

# The error of an update whose rows do not all have the version that was loaded: the statement
# divides by 0 then. No other statement of a writing divides.
STALE = errors.DivisionByZero


@dataclass(frozen=True, slots=True)
class _BrokenConstraint:
    code: str
    message: str


_UNIQUE = {
    "invoice_business_id_number_key": _BrokenConstraint(
        "duplicate_invoice_number", "Another invoice of this business has this number."
    ),
    "customer_credit_business_id_number_key": _BrokenConstraint(
        "duplicate_credit_note_number", "Another credit note of this business has this number."
    ),
    "bill_business_id_number_key": _BrokenConstraint(
        "duplicate_bill_number", "Another bill of this business has this number."
    ),
    "bill_party_number_key": _BrokenConstraint(
        "duplicate_bill_number", "Another bill of this vendor has this vendor_bill_number."
    ),
    "vendor_credit_business_id_number_key": _BrokenConstraint(
        "duplicate_vendor_credit_number", "Another vendor credit of this business has this number."
    ),
    "account_business_id_code_key": _BrokenConstraint(
        "duplicate_account_code", "Another account of this business has this code."
    ),
    "tax_code_business_id_code_key": _BrokenConstraint(
        "duplicate_tax_code", "Another tax code of this business has this code."
    ),
    "tax_return_business_id_supersedes_id_key": _BrokenConstraint(
        "already_superseded", "Another return already supersedes this return."
    ),
    "bank_account_business_id_account_id_key": _BrokenConstraint(
        "account_taken", "Another bank account uses this account. Choose another account."
    ),
    "opening_balance_opened_on_key": _BrokenConstraint(
        "duplicate_opening_balance", "The books already have an opening balance on this day."
    ),
    "journal_entry_business_id_reversal_of_id_key": _BrokenConstraint(
        "already_reversed", "The entry is already reversed."
    ),
}
# Only where documents are deleted: a row that refers to a document locks it first.
_NAMED = {
    "customer_credit_business_id_source_document_id_fkey": _BrokenConstraint(
        "invoice_has_allocations", "A customer credit names the invoice as its source."
    ),
    "vendor_credit_business_id_source_document_id_fkey": _BrokenConstraint(
        "bill_has_allocations", "A vendor credit names the bill as its source."
    ),
}
_EXTERNAL_ID = "_external_id_key"
# The constraints that triggers name where a change would alter a reconciled bank statement.
_RECONCILED = frozenset(
    {"journal_line_after_reconciliation", "bank_link_reconciled", "linked_money_reconciled"}
)


class UnsafeDatabase(Exception):
    """A database that would allow this server to lose or rewrite permanent records."""


class UnusableDatabase(Exception):
    """A database that cannot be reached, or has no schema of ours."""


class DatabaseAway(UnusableDatabase):
    """A database that does not answer; that may pass."""


class ReadOnly(OperationalError):
    """A database that answers but accepts no writes: a standby, or a primary that was set so."""


class StaleRow(Exception):
    """A row that changed between its lock and its update: the handler runs again."""


# The name of the broken constraint in the message of the database. A cluster gives no other sign:
# on each of its machines a table has a number after its name, and so have its constraints.
_CONSTRAINT = re.compile(r'constraint "(\w+?)(?:_[0-9]{6,})?"')


def broken_constraint(error: Error) -> str:
    """Return the name of the constraint that a statement broke; empty for any other error."""
    if error.diag.constraint_name:
        return error.diag.constraint_name
    found = _CONSTRAINT.search(error.diag.message_primary or "")
    return found[1] if found else ""


def external_id_raced_for(error: Exception) -> str | None:
    """Return the constraint of an external id that two requests brought in a race, else None."""
    name = broken_constraint(error) if isinstance(error, errors.UniqueViolation) else None
    return name if name is not None and name.endswith(_EXTERNAL_ID) else None


def refusal_of(error: Exception) -> ApiError | None:
    """Return the API error for an error of the database; None means a fault of ours.

    An API error for a value that the contract allowed (DataError) is right for the caller, and
    still a gap in the contract: the server logs it.
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
        return ValidationError("bad_request", "A value cannot be stored.")
    # Another server is the primary now, or will soon be.
    if isinstance(error, OperationalError | InterfaceError | errors.ReadOnlySqlTransaction):
        return unavailable()
    return None


def away(error: Exception) -> DatabaseAway | None:
    """Return the error for operators where the database went away; None for any other error."""
    if isinstance(error, OperationalError | InterfaceError):
        return DatabaseAway(f"The database does not answer any more: {first_line(error)}")
    return None


def first_line(error: Exception) -> str:
    """Return the first line of a message: psycopg adds more for each address that it tried."""
    return str(error).strip().partition("\n")[0]


def unavailable() -> Outage:
    """Return the API error for a database that is away, full or slow, or where each run failed."""
    return Outage("service_unavailable", "The books cannot be reached now.", retry_after_seconds=1)


def _unique(error: errors.UniqueViolation) -> ApiError | None:
    if external_id_raced_for(error):
        return Conflict("duplicate_external_id", "Another resource has this external_id.")
    return _said(_UNIQUE, error)


def _said(known: Mapping[str, _BrokenConstraint], error: IntegrityError) -> ApiError | None:
    broken = known.get(broken_constraint(error))
    return Conflict(broken.code, broken.message) if broken else None


def _check(error: errors.CheckViolation) -> ApiError | None:
    name = broken_constraint(error)
    if name == "journal_entry_after_lock_date":
        return Conflict("period_locked", "The period of this date is locked.")
    if name in _RECONCILED:
        return Conflict(
            "bank_reconciled",
            "The change affects a reconciled bank statement. Reopen the statement first.",
        )
    if name.endswith("_not_over_allocated_check"):
        return RuleViolation(
            "allocation_exceeds_outstanding", "The allocation exceeds the amount left to settle."
        )
    if name.endswith("_credit_within_total_check"):
        return RuleViolation("allocation_exceeds_total", "The allocations exceed the total.")
    return None
