"""The OpenAPI document: its operations, formats, and the forms in which it is published."""
