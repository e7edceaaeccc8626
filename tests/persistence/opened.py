"""Books that were opened, and the faults to plant in what came with that."""

from collections.abc import Mapping

from tests.builders.openings import all_open, opened, reversed_
from tests.builders.trade import Record
from tests.partner import Business
from tests.persistence.planting import Fault, change, role

_CAME = "opening_id IS NOT NULL"
_STANDS = "reversed_at IS NULL"


def open_books(shop: Business, customer: Record, vendor: Record) -> None:
    """Open the books, take that back, and open them anew."""
    reversed_(shop, opened(shop, **all_open(customer, vendor)), "2024-12-31")
    opened(shop, **all_open(customer, vendor), memo="again")


OPENINGS: Mapping[str, Fault] = {
    "an opening says more of receivables than came with it": (
        change(
            "opening_balance",
            "documented = jsonb_set(documented, '{accounts_receivable}', '1501')",
            _STANDS,
        ),
        {"opening_ties"},
    ),
    "what was stated of payables is not what came": (
        change(
            "opening_balance",
            f"stated = jsonb_set(stated, ARRAY[{role('accounts_payable')}::text], '-501')",
            _STANDS,
        ),
        {"opening_ties"},
    ),
    "a balance of an opening is not what was posted": (
        change(
            "opening_balance",
            f"stated = jsonb_set(stated, ARRAY[{role('bank')}::text], '5001')",
            _STANDS,
        ),
        {"posted_as_desired"},
    ),
    "a credit that came with an opening is of another day": (
        change("vendor_credit", "opened_on = opened_on + 1", f"{_CAME} AND state = 'open'"),
        {"opening_items"},
    ),
    "an opening is of another day than all that came with it": (
        change("opening_balance", "opened_on = opened_on - 1", _STANDS),
        {"opening_items", "invoice_days", "bill_days"},
    ),
    "an opening is taken back, and what came with it stands": (
        change("opening_balance", "reversed_at = now()", _STANDS),
        {"opening_items", "posted_as_desired"},
    ),
    "an invoice that came with an opening is on another account": (
        change(
            "invoice",
            f"lines = jsonb_set(lines, '{{0,account_id}}', to_jsonb({role('sales')}))",
            f"{_CAME} AND state = 'open'",
        ),
        {"opening_lines", "posted_as_desired"},
    ),
}
