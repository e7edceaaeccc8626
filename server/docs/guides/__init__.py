"""The guides of the reference: a Markdown file each, in the order and groups of the navigation.

A file begins with its title, "# Rate limits", and is named after it: `rate-limits.md`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

FIRST: Final = "First steps"
# The files by group. A new guide is a file and its name here; the text of the contract lists all.
GROUPS: Final = {
    FIRST: """
        quickstart-in-python
        authentication
        sandboxes-and-testing
        going-live
        agents-mcp
    """,
    "Requests and answers": """
        request-format
        dates-and-time-zones
        money-and-currencies
        previews
        errors-and-retries
        idempotency
        rate-limits
        bringing-a-history
        concurrent-updates
        pagination
        filters-and-sorting
        names-that-differ
        events
        events-of-all-businesses
        syncing-changes
        webhooks-and-polling
        data-freshness
        versions-and-deprecation
    """,
    "Sales": """
        invoices
        prices-discounts-and-rounding
        payments-and-partial-payments
        credit-notes-and-refunds
        write-offs-and-failed-payments
        void-cancel-delete-or-archive
        payouts
    """,
    "Purchases": """
        bills-and-vendors
        vendor-refunds
    """,
    "Bank and files": """
        bank-statements
        bank-reconciliation
        attachments
    """,
    "Tax": """
        tax-codes-and-rates
        vat-returns
    """,
    "Ledger and reports": """
        chart-of-accounts-and-journal-entries
        opening-balances
        closing-a-month
        reports
        agings-and-statements
        pdf-documents
        audit-trail-and-integrity
        web-page-for-users
    """,
}


@dataclass(frozen=True, slots=True)
class Guide:
    """A text about one subject, in Markdown without its title; the address ends in `name`."""

    group: str
    name: str
    title: str
    text: str


def all_guides(first: str) -> Iterator[Guide]:
    """Yield all guides in order; `first` is the text of the contract, which is the first guide."""
    yield Guide(FIRST, "start-here", "Start here", first)
    for group, names in GROUPS.items():
        for name in names.split():
            title, _, text = read(name).partition("\n")
            yield Guide(group, name, title.removeprefix("# "), text)


def read(name: str) -> str:
    """Return the Markdown of a guide."""
    return (files(__name__) / f"{name}.md").read_text(encoding="utf-8")
