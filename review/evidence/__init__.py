"""Execution evidence in a campaign: which cases count, what experts change in them, and what comes of it."""
