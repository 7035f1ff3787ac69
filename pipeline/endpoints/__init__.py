"""Endpoints: the servers that serve models, their prices, and the check of what a server can do."""
