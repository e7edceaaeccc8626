"""What must hold in the books of one business, as statements: each row names one thing and tells
whether it holds.

What only the rules can tell, that everything is posted as it desires, is in `posting.py`.
"""

from persistence.proof import (
    balances,
    bank,
    cash,
    control,
    credits,
    documents,
    journal,
    manual,
    openings,
    payments,
    payouts,
    periods,
    refunds,
    tags,
    tax_codes,
    tax_returns,
    trail,
)

CHECKS = {
    **journal.CHECKS,
    **manual.CHECKS,
    **documents.CHECKS,
    **payments.CHECKS,
    **credits.CHECKS,
    **refunds.CHECKS,
    **payouts.CHECKS,
    **bank.CHECKS,
    **openings.CHECKS,
    **control.CHECKS,
    **tax_codes.CHECKS,
    **tax_returns.CHECKS,
    **cash.CHECKS,
    **balances.CHECKS,
    **tags.CHECKS,
    **periods.CHECKS,
    **trail.CHECKS,
}
"""Every check by its name; a later kind of document joins with its own."""
