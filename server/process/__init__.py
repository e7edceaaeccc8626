"""The processes of a server: master, workers, the database beside them, and their settings."""
