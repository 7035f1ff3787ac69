"""Sandbox test results in a campaign: which cases count, how experts change them, and the results."""
