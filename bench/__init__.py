"""The figures we hold, measured: `make bench` prints a table and writes bench/results/figures.json."""
