"""How often simulated models err: assumed rates, their effect on one draft, and the texts for it.

It is pure. The demo model answers from this model, and the simulation calculates with it.
"""
