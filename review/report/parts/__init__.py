"""Parts of the report's JSON document: arms, execution and p values. They are computed from counts and rows."""
