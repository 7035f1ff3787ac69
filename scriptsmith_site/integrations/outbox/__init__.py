"""Events, the destinations that receive them, and their reliable delivery."""
