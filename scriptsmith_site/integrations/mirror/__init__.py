"""The catalogue in Git: a commit for each publication, and changes that come back from there for review."""
