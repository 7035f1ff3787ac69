"""Endpoints: the servers that models are asked at, their prices, and the check of what a server can do."""
