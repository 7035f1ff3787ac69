"""Show scripts, diffs and charts on pages."""
