"""What can go wrong with the PostgreSQL that comes along."""


class EmbeddedError(RuntimeError):
    """PostgreSQL cannot be found, started or reached; the message says what an operator can do."""
