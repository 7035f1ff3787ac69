"""Sandbox tests in a campaign: the test cases that count, reviewers' changes to them, and the results."""
