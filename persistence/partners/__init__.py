"""Partners, their keys, and the businesses that each has registered."""
