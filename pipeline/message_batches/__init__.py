"""Message Batches: collect the model calls of a campaign's runs, send them as batches and return the replies."""
