"""What happened: written down with the act, numbered, and given to whoever wants it."""
