"""Authentication of callers: API keys, tokens, and signed links to documents."""
