"""Import items and scores from a file into the database."""
