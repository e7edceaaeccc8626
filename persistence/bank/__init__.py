"""The stores of bank accounts, statement lines, links and payouts, and their SQL."""
