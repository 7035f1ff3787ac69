"""Fits a model. Only workers and the bench load it."""
