"""The webhook view and the pages of incidents, sources and rules."""
