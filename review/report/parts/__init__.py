"""Parts of the report's JSON document that are computed from counts and rows: arms, execution and p values."""
