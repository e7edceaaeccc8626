"""Harbour Coffee from January 2025 to February 2026, worked out by hand on both bases."""
