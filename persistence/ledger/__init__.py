"""Stores of the chart, the journal, balances and the audit trail, and their SQL."""
