"""Bank accounts, the lines of their statements, and payouts of payment processors."""
