"""The views of the page, a module for what belongs together."""
