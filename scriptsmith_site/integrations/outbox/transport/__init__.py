"""How events are sent: addresses, secrets, bodies, one try."""
