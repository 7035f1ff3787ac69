"""Entries and their versions: the page of an entry, writing, verifying, wordings, using a script."""
