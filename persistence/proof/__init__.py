"""The proof of the books: all that must agree in them, as statements and as desired postings."""
