"""Export a campaign to a file."""
