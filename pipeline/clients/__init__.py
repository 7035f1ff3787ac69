"""Access to models: the clients, the endpoints' keys, and the addresses of built-in models."""
