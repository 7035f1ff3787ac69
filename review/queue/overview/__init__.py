"""What a queue says of itself: what waits or comes later, one's own studies and pace, how far scripts have come."""
