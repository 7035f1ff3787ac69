"""Parse Bash into the commands that it would run."""
