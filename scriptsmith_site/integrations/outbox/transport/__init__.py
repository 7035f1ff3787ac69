"""Sending of events: address checks, secrets, message bodies and single attempts."""
