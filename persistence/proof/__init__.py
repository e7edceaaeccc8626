"""Integrity checks of the books, as SQL statements and as a comparison of desired postings."""
