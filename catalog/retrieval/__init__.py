"""From a statement to the entries that answer it: search by words and by vectors, then judging."""
