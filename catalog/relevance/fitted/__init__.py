"""The fitted model, its features and its trees."""
