"""The path of a request: edge, routing, security, validation, dispatch, response."""
