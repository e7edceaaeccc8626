"""The demo: a coffee roaster with a year of trade, created over the API."""
