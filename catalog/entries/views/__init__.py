"""Pages for entries, versions and uses."""
