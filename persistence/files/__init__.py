"""Stored files: their records, and where their contents lie."""
