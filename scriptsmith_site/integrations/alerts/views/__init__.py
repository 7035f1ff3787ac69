"""The door itself, and the pages of incidents, sources and rules."""
