"""Commands and options that are known to change nothing."""
