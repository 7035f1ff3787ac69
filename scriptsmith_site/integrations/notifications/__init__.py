"""Notifications on the site and by email. Users choose the kinds and times."""
