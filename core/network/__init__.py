"""Connections to other servers: checks of resolved addresses, one time limit for a whole exchange."""
