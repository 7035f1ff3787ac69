"""Requests and responses: what pages and API of every app share, and checks that run before both."""
