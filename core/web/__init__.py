"""Requests and responses: code that the pages and the API of every app share, and checks that run before both."""
