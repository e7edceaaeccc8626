"""The demo: a coffee roaster with a year of trade behind it, done over the API by a clerk."""
