"""Items that measure reviewers: items with known answers, repeats and halo checks."""
