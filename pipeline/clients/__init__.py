"""What calls to a model need from outside: the client, the endpoint's key, the demo model's address."""
