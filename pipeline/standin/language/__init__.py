"""Parsing of statements and scripts: literals, idioms and shell syntax, and their comparison."""
