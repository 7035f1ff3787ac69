"""Operation of the product: health, metrics, logs and backups."""
