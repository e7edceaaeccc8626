"""Opening balances: books that begin on a day with the balances and open items of other books."""
