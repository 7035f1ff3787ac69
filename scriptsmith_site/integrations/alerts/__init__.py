"""Incoming alerts: turn alerts from monitoring systems into incidents with suggested verified scripts."""
