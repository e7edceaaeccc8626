"""Stored files: their records, and the storage of their contents."""
