"""What must hold in the books of one business, as statements: each row names one thing and tells
whether it holds.

What only the rules can tell, that every document is posted as it desires, is in `integrity.py`.
"""

from persistence import (
    control_checks,
    credit_checks,
    document_checks,
    journal_checks,
    payment_checks,
    refund_checks,
)

CHECKS = {
    **journal_checks.CHECKS,
    **document_checks.CHECKS,
    **payment_checks.CHECKS,
    **credit_checks.CHECKS,
    **refund_checks.CHECKS,
    **control_checks.CHECKS,
}
"""Every check by its name; a later kind of document joins with its own."""
