"""Sandbox tests of entries: storage, runs by a separate sandbox worker, and pages."""
