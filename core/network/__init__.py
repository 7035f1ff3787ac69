"""Connections to other servers, with checks of resolved addresses and one time limit for a whole exchange."""
