"""One row of a file, pure: its columns, its values, what it says."""
