"""One request: edge, routing, security, validation, dispatch, response."""
