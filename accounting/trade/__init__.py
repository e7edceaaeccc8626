"""Both sides of trade: parties, documents, payments, credits, refunds and their allocations."""
