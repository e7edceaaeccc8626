"""Tax codes with their rates by day, the tax on amounts, and tax returns."""
