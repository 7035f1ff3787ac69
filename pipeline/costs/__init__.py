"""Costs: the price of a reply, daily sums, the cost of a run, and the costs page."""
