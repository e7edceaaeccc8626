"""Books that begin in the middle: what stood and what was open on a day, entered as one."""
