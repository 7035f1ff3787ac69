"""Review benchmarks: concurrent reviewers, races, size and speed of the review page, and blinding."""
