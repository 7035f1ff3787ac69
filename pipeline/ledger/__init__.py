"""The ledger of model calls: admission to an endpoint, attempts, retries and explained failures."""
