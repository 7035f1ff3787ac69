"""Stubbed commands: the stubs mounted over the real programs, and the replies that the helper sends to them."""
