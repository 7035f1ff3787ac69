"""Items that measure reviewers: known answers, and items shown again."""
