"""Execution: a worker advances a run through the flow and stores every step, so that no work is lost if the worker is
killed.
"""
