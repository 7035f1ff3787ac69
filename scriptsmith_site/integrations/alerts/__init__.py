"""Incoming alerts: turn alerts of monitoring systems into incidents with suggested verified scripts."""
