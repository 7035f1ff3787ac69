"""The ledger of model calls: admission to an endpoint, attempts, retries, and failures explained to people."""
