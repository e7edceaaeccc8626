"""The views of the web application, in modules by subject."""
