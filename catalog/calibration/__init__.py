"""How reliable a confidence is: labels, the threshold, scorings fitted to them."""
