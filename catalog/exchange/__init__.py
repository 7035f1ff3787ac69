"""Entries in from files and out to them, and the copy that is read when nothing runs."""
