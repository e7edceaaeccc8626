"""Holds a deployment to the contract that it serves itself, over HTTP alone."""
