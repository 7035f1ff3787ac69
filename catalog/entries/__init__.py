"""Entries and their versions: pages, editing, verification, phrasings and uses."""
