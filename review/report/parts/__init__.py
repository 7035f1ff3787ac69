"""Parts of the report's JSON document that are calculated from counts and rows: arms, execution and p values."""
