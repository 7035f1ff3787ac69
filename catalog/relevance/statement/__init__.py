"""What can be read from a statement and from a script on their own."""
