"""Pages of the live queue, of studies, and of who has which item."""
