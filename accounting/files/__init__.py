"""Uploaded files."""
