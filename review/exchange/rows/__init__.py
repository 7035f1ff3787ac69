"""Parse the columns and values of a row in a file, without accessing the database."""
