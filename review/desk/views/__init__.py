"""Views of the review page and of its background requests."""
