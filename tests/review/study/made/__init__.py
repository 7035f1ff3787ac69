"""Generate studies from seeds, each with different irregularities, as rows of files to import."""
