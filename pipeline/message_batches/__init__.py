"""Collect the model calls of a campaign's runs, send them as Message Batches and return the replies to the runs."""
