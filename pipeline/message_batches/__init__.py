"""Collects the model calls of a campaign's runs, sends them as Message Batches and returns the replies to the runs."""
