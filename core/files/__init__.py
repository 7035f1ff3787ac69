"""Reads and writes files of lines, JSON and tables as streams."""
