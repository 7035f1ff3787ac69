"""General statistics: intervals, exact p values, coefficients of agreement and the bootstrap."""
