"""How often simulated models err: assumed rates, their effect on one draft, and the texts for it.

This is pure code. The demo model's answers and the simulation are both based on this error model.
"""
