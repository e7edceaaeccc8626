"""Stores of both sides of trade, and their SQL."""
