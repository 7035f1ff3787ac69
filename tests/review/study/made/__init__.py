"""Studies generated from a seed, each with its own irregularities, as rows of files to import."""
