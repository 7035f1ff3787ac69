"""Tables of the report as rows of cells: drawn on the page, and copied as LaTeX, Markdown or CSV."""
