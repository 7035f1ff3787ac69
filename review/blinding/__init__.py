"""Determines what a reviewer may see of an item now, and records who has seen which verdict."""
