"""Events: each change of a record that partners can read is one event."""
