"""Study benchmarks: reports, coverage of intervals, import and export, and growth."""
