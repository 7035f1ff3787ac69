"""The error model of simulated models: assumed error rates, their effect on one draft, and the simulated texts.

This is pure code. The demo model's answers and the simulation are both based on this error model.
"""
