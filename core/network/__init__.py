"""Connections to other servers, with checks of resolved addresses and a time limit for the whole exchange."""
