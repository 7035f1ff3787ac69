"""Endpoints: model servers, their prices, and the check of a server's capabilities."""
