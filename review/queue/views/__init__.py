"""Pages for the review queue, studies, and the assignments of an item."""
