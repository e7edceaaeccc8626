"""The reference: the contract as pages for people."""
