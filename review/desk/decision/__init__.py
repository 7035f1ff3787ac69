"""Decisions on an item (approve, edit or reject) with the score they are based on, and undo."""
