"""The supervision of the product's own processes."""
