"""What several operations do alike: lock, save, post and show."""
