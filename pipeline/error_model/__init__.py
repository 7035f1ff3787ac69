"""How often simulated models err: assumed rates, what follows from them for one draft, and the texts that carry it.

Pure. The stand-in answers from this model, and the simulation calculates with it.
"""
