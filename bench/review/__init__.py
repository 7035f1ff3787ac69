"""Measurements of reviewing: the pace of many people, races, the screen's weight and speed, blinding."""
