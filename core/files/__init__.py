"""Reading and writing files of lines, JSON and tables, as streams."""
