"""Alerts in: what other systems send becomes incidents with verified scripts, and decides nothing."""
