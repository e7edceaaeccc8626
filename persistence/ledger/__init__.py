"""Stores of the chart, the journal and balances, and their SQL."""
