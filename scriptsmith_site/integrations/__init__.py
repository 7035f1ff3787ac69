"""Integrations with other systems. They create or read data and make no decisions."""
