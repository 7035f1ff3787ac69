"""Pages of the review queue, of studies, and of an item's assignments."""
