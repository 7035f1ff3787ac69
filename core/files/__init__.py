"""Read and write text, JSON and tables as streams."""
