"""Who calls: API keys, tokens, and signed links to documents."""
