"""Pages with the curators' work lists."""
