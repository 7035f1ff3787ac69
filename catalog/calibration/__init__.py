"""The reliability of confidence scores: labels, the threshold, and scorings fitted to them."""
