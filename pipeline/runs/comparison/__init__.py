"""Several runs of an action beside each other."""
