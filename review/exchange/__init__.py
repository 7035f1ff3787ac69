"""Imports items and scores into a campaign and exports all of its data, by command, page and API.

The modules in `rows` are pure. They parse rows and do not access the database.
"""
