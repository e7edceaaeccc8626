"""The reference: the contract as one page for people."""
