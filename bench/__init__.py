"""What a request costs, here and in the usual stacks. Not packaged; Linux and macOS."""
