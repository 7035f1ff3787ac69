"""Catalogue functions for programs: fetch a script, look up a hash or text, and report the outcome of a run."""
