"""Tables of the report as rows of cells. They are shown on the page and copied as LaTeX, Markdown or CSV."""
