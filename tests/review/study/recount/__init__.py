"""Recount the figures of a study from its export alone, in plain Python by the written definitions.

Nothing here imports the product. The code is slow and works item by item on purpose, so that it cannot repeat a mistake
in the product's counting of patterns.
"""
