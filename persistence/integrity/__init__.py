"""Checks that the books of a business are right, and the audit trail of its changes."""
