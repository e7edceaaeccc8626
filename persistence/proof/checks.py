"""What must hold in the books of one business, as statements: each row names one thing and tells
whether it holds.

What only the rules can tell, that every document is posted as it desires, is in `integrity.py`.
"""

from persistence.proof import control, credits, documents, journal, payments, refunds

CHECKS = {
    **journal.CHECKS,
    **documents.CHECKS,
    **payments.CHECKS,
    **credits.CHECKS,
    **refunds.CHECKS,
    **control.CHECKS,
}
"""Every check by its name; a later kind of document joins with its own."""
