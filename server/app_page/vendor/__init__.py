"""What others wrote, as they published it."""
