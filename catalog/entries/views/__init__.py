"""Pages of entries, versions and uses."""
