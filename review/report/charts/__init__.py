"""Charts of the report as shapes, from numbers alone: a module each, drawn by templates/review/report/charts.

Nothing is styled here and nothing is asked of the database: places are percent of a drawing's width, or pixels of
its own view box, colours are classes of the stylesheet, and every shape carries the words it says when pointed at.
"""
