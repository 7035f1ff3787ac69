"""Charts of the report as shapes, calculated from numbers. Templates in templates/review/report/charts render them.

The modules set no styles and do not access the database. Positions are percentages of a drawing's width, or pixels of
its view box. Colors are classes in the style sheet. Every shape has a title that is shown on hover.
"""
