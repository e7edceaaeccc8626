"""Parsing of requests into valid calls: routing, security, bodies and parameters."""
