"""Stores of bank accounts, bank lines, links and payouts, and their SQL."""
