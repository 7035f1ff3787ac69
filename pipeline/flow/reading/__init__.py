"""Readers of models' replies, pure: scripts, verdicts and explanations, and why a reply can't be read."""
