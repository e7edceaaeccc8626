"""Files that are sent in."""
