"""Administration of the database: schema, privileges, row security, poolers, clusters."""
