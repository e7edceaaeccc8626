"""Partners, their keys, the businesses that each has registered, and state that servers share."""
