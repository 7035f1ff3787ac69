"""Pages of the lists that curators work through."""
