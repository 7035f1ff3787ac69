"""Integrations with other systems. They create or read data, but make no decisions."""
