"""Doors to other systems: each creates or reads, none decides."""
