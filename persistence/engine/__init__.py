"""Round trips, sessions, transactions and lists: the base of every store."""
