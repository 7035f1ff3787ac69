"""What the live queue says of itself: to reviewers what waits for them, to askers how far their scripts have come."""
