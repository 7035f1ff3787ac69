"""Calls to models over the Messages API. Only `client`, `batches_client` and `inspector` import the SDK."""
