"""Webhooks: the endpoints of partners, and the attempts to deliver events to them."""
