"""What a reviewer may see of an item now, and who has seen which verdict."""
