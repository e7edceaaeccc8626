"""Insights: what is open with whom, and how much of what there is."""

from collections.abc import Mapping
from typing import Any

from handlers.results import Reply, Tabled
from handlers.shared.owed import age, count_credits, count_documents, standing
from persistence.books import Books

# ── What is open with customers and vendors ─────────────────────────────────────────────────────


async def get_receivable_aging(books: Books, query: Mapping[str, Any]) -> Tabled:
    """Tell what customers owed at the end of a day, by how late it was."""
    return await age(books.sales, query)


async def get_payable_aging(books: Books, query: Mapping[str, Any]) -> Tabled:
    """Tell what vendors were owed at the end of a day, by how late it was."""
    return await age(books.purchases, query)


async def get_receivable_stats(books: Books) -> Reply:
    """Count invoices and credit notes by what is left to do about them."""
    found = await standing(books.sales)
    return {
        "currency": books.currency,
        "invoices": count_documents(books.sales, found),
        "credit_notes": count_credits(
            found,
            draft=["draft"],
            sent=["sent"],
            applied=["applied"],
            partially_applied=["partially_applied"],
            void=["void"],
        ),
    }


async def get_payable_stats(books: Books) -> Reply:
    """Count bills and vendor credits by what is left to do about them."""
    found = await standing(books.purchases)
    return {
        "currency": books.currency,
        "bills": count_documents(books.purchases, found),
        "vendor_credits": count_credits(
            found, unapplied=["received", "partially_applied"], applied=["applied"]
        ),
    }
