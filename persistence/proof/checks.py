"""The SQL integrity checks of one business: each row names a record, and whether it is right.

The check that needs the rules, of desired postings, is in `posting.py`.
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
"""Every SQL check by its name."""
