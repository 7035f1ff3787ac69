"""Scripts, diffs and charts as pages show them."""
