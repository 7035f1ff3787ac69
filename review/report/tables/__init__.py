"""Tables of the report. The page shows them, and users can copy them as LaTeX, Markdown or CSV."""
