"""Rendering of results and errors as responses."""
