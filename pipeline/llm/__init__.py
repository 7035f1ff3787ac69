"""Calls to models over the Messages API; only `client`, `batches_client` and `inspector` import the SDK."""
