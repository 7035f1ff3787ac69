"""Accounts, roles, sessions and tokens: permissions and authentication."""
