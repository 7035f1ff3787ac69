"""Connections to other servers: addresses judged by number, one time limit for a whole exchange."""
