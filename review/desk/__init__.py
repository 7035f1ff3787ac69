"""The review page, where a reviewer scores an item, decides on it and comments on it."""
