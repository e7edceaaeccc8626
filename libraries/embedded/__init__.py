"""The embedded PostgreSQL: find its programs, start it, count its users and stop it."""
