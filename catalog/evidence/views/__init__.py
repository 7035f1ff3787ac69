"""Pages of cases and of what happened in them."""
