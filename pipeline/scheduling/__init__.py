"""Which runs can go on, which worker has them, and for how long: dispatch, leases, heartbeat, and batches."""
