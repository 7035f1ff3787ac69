"""Catalogue functions for programs: fetch a script, verify a hash or text, and report how a run went."""
