"""Benchmarks of this server and of common stacks. Not packaged; for Linux and macOS."""
