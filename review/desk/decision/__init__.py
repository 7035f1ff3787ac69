"""Deciding on an item: approve, edit or reject with the score it stands on, and taking it back."""
