"""The PostgreSQL that comes along: find its programs, start it, count its users, stop it."""
