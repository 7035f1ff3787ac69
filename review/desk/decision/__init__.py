"""Decisions on an item (approve, edit or reject), each with the score that it is based on, and undo."""
