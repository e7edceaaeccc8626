"""What outlives a deployment: one business as a file, and the whole as a backup."""
