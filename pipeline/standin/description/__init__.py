"""Rules that describe a script in words."""
