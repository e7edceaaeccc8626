"""Stored tax returns, and the SQL of the journal amounts behind them."""
