"""General statistics: intervals, exact p values, agreement coefficients and the bootstrap."""
