"""The list of commands and options that are known to change nothing."""
