"""Items and scores from a file into the tables."""
