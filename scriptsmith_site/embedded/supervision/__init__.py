"""Starts, watches, restarts and stops the product's own processes."""
