"""A check of a deployment against the contract that it serves, over HTTP only."""
