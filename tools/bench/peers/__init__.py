"""The peers: other stacks that do the same work over one small schema, each in its usual style."""
