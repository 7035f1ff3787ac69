"""Parts of the report's JSON document that are put together from counts and rows: arms, execution, p values."""
