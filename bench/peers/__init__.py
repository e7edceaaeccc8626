"""What others would run instead: the same two operations over the same columns."""
