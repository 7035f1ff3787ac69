"""Statements and scripts as the stand-in reads them: literals, idioms, shell syntax, and how the two compare."""
