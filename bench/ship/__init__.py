"""Builds everything that is computed before a release and shipped with it."""
