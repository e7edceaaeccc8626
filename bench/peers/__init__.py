"""What others would run instead: the same work over one small schema, as each of them does it."""
