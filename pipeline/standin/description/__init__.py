"""Rules that describe scripts in prose."""
