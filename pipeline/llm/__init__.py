"""Speaking to models over the Messages API; the SDK is imported by `client` alone."""
