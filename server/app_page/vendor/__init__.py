"""Third-party files, unchanged."""
