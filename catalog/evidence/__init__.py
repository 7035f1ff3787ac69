"""Cases of entries: kept, run in the sandbox by a worker of its own, and looked at."""
