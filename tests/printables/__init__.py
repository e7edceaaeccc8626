"""Printed documents: texts, letters and formats for every country, account and tax treatment."""
