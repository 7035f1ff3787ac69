"""The pages of runs and drafts."""
