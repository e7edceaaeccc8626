"""Errors of the embedded PostgreSQL."""


class EmbeddedError(RuntimeError):
    """A PostgreSQL that cannot be found, started or reached; the message has advice."""
