"""The figures of a study once more, from its export alone: plain Python by the written definitions.

Nothing here imports the product. It is slow and item by item on purpose, so that a mistake in the product's
counting of patterns is not made a second time.
"""
