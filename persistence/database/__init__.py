"""The database as operators see it: schema, rights, row security, poolers, many machines."""
