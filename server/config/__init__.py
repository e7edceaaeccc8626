"""Settings of a server, read from the environment."""
