"""What statistics offers any study: intervals, exact p values, coefficients of agreement, the bootstrap."""
