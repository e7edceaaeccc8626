"""From bytes to a valid call: routing, security, bodies and parameters."""
