"""The demo: a coffee roaster with a year of trade behind it, made over the API."""
