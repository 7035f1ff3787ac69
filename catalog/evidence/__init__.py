"""Cases of entries: stored, run in the sandbox by a separate worker, and shown."""
