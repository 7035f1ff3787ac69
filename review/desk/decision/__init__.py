"""Store and undo decisions on an item: approve, edit or reject."""
