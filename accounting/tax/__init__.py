"""Tax codes: what a tax is called, how it is treated and what its rate was on which day."""
