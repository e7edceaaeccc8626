"""What the work costs, here and in the usual stacks. Not packaged; Linux and macOS."""
