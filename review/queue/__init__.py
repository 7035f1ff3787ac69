"""The review queue: eligible items, their order, claims and leases."""
