"""Simulates the gain from rounds, peer review and the guard before paying for it: the real flow at assumed error rates.

It is pure code like the flow, without Django or a database. The assumptions are in `pipeline.error_model`, which the
demo model also uses. `item_flow` sends items through the flow, `figures` counts, `closed_form` calculates the expected
values, and `result_document` combines both. Every result is labeled as simulated, never as a model's result.
"""
