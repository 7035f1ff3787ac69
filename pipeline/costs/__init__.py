"""Costs: the price of a reply, the daily sums, what one run cost, and the page of costs."""
