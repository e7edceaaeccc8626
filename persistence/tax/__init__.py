"""Tax returns as they are stored, and what of the journal they are made of."""
