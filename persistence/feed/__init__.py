"""The feed of events of a business: written with each change, and read in its order."""
