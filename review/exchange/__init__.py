"""Import items and scores into a campaign and export all of its data, by command, page or API.

The modules in `rows` parse rows and do not access the database.
"""
