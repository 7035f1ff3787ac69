"""Execution: a worker takes a run through the flow and stores every step, so that a killed worker loses nothing."""
