"""Build the artifacts that are computed before a release and shipped with it."""
