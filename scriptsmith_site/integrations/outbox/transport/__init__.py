"""Event delivery: address checks, secrets, message bodies and single attempts."""
