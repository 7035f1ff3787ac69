"""Pages of the curators' work lists."""
