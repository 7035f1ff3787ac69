"""What measurements share: servers of their own, the product as it is started, workers, rows to measure with."""
