"""Message Batches: requests of a campaign's runs are collected and sent as one; their replies go back to the runs."""
