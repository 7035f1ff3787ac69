"""Accounts, roles, sessions and tokens: who may do what, and how they prove who they are."""
