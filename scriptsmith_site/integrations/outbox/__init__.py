"""What happened here, sent to other systems: events, where they go, and that each arrives."""
