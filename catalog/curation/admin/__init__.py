"""Entries, versions and tags in Django's admin."""
