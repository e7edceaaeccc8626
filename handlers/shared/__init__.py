"""Functions that several subjects use: posting, serialization, warnings, attached files."""
