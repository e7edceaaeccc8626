"""Checks that the books of a business are right: balances, control accounts, postings, trail."""
