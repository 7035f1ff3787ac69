"""Access to models: the client, endpoints' keys, the demo model's address."""
