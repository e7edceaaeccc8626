"""The ledger, its accounts and numbers, and the business that they belong to."""
