"""Archives: the export of one business as a file, and the backup of a whole deployment."""
