"""Events are stored in the transaction that causes them, numbered, and distributed to destinations and users."""
