"""An opening of books, and the faults to plant in its items."""

from collections.abc import Mapping

from tests.builders.openings import (
    all_open,
    by_code,
    open_bill,
    open_customer_credit,
    open_invoice,
    opened,
    reversed_,
)
from tests.builders.sales import written_off
from tests.builders.trade import PURCHASES, Record
from tests.partner import Business
from tests.persistence.integrity.fault import Fault, change, planted, role

_CAME = "opening_id IS NOT NULL"
_STANDS = "reversed_at IS NULL"


def open_books(shop: Business, customer: Record, vendor: Record) -> None:
    """Open the books, reverse the opening, and open them again; then those of a shop with tax."""
    reversed_(shop, opened(shop, **all_open(customer, vendor)), "2024-12-31")
    opened(shop, **all_open(customer, vendor), memo="again")
    sold, bought = [by_code("S20", 100, 20)], [by_code("P20", 100, 20)]
    given_up = open_invoice(customer, 120, tax=sold)
    opening = opened(
        shop,
        date="2024-11-30",
        invoices=[open_invoice(customer, 120, tax=sold, external_id="taxed"), given_up],
        bills=[open_bill(vendor, 120, tax=bought)],
        customer_credits=[open_customer_credit(customer, 120, tax=sold, external_id="taxed")],
    )
    bill = opening["bills"][0]
    PURCHASES.pay(shop, vendor, 70, PURCHASES.part(bill, 70))
    [loss] = [each for each in opening["invoices"] if each["external_id"] is None]
    written_off(shop, loss, amount_cents=60, tax_relief=True)


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
    "a credit that came with an opening is of another day": planted(
        "vendor_credit", "opened_on = opened_on + 1", f"{_CAME} AND state = 'open'", "opening_items"
    ),
    "an opening is of another day than all that came with it": (
        change("opening_balance", "opened_on = opened_on - 1", _STANDS),
        {"opening_items", "invoice_days", "bill_days"},
    ),
    "an opening is taken back, and what came with it stands": planted(
        "opening_balance", "reversed_at = now()", _STANDS, "opening_items", "posted_as_desired"
    ),
    "an invoice that came with an opening is on another account": (
        change(
            "invoice",
            f"lines = jsonb_set(lines, '{{0,account_id}}', to_jsonb({role('sales')}))",
            f"{_CAME} AND state = 'open' AND tax_total = 0",
        ),
        {"opening_lines", "posted_as_desired"},
    ),
    "tax of an invoice that came with an opening is of another code": (
        change(
            "invoice",
            "lines = jsonb_set(lines, '{0,taxes,0,2}', to_jsonb(gen_random_uuid()))",
            f"{_CAME} AND external_id = 'taxed'",
        ),
        {"opening_lines", "posted_as_desired"},
    ),
    "tax of a credit that came with an opening is on its own account": (
        change(
            "customer_credit",
            f"lines = jsonb_set(lines, '{{0,taxes,0,1}}', to_jsonb({role('output_tax')}))",
            f"{_CAME} AND external_id = 'taxed'",
        ),
        {"opening_lines", "posted_as_desired"},
    ),
    "what came with an opening is settled where its tax stood before": (
        change(
            "bill",
            f"settled = jsonb_set(settled, '{{1,0}}', to_jsonb({role('input_tax')}))",
            f"{_CAME} AND tax_total > 0",
        ),
        {"bill_parts_settled"},
    ),
}
