"""Round trips, sessions, transactions and lists: what every store stands on."""
