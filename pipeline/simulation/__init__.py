"""Simulates what rounds, peer review and the guard gain, before anything is paid: the real flow at assumed error
rates.

Pure, like the flow that it runs: no Django, no database. The assumptions are in `pipeline.error_model`, which the
stand-in uses as well. `item_flow` sends items through the flow, `figures` counts, `closed_form` calculates the
expected values, `result_document` combines both. Every result is labelled as simulated, never as a model's.
"""
