"""Import and export of entries, and the copy that can be read while the product is down."""
