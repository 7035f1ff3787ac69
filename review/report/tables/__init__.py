"""Tables of the report as rows of cells. The page shows them, and users can copy them as LaTeX, Markdown or CSV."""
