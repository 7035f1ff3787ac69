"""Recount a study's figures from its export alone, in plain Python, according to the written definitions.

No module here imports the product. The code is intentionally slow and works item by item, so that it cannot repeat
mistakes in the product's counting of patterns.
"""
