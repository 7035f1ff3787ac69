"""Views for the review page and of its background requests."""
