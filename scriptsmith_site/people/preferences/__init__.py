"""A user's preferences: time zone, theme and keyboard shortcuts."""
