"""How far a confidence can be trusted: labels, the threshold, scorings fitted to them."""
