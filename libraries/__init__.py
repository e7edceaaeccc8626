"""Packages that know nothing of the product and could be published on their own."""
