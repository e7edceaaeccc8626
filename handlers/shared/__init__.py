"""Code that several operations share: lock, save, post and serialize."""
