"""Simulate the gain from rounds, peer review and the guard, with the real flow and assumed error rates.

Like the flow, this is pure code without Django or a database. The assumptions are in `pipeline.error_model`, which the
demo model also uses. `item_flow` sends items through the flow, `figures` counts the results, `closed_form` calculates
the expected values, and `result_document` combines both. Every result is labeled as simulated.
"""
