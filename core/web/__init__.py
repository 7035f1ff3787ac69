"""Requests and answers: what pages and API of every app share, and what is refused before they see it."""
