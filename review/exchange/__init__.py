"""Items and scores into a campaign, and everything out again: from files, by command, page and API alike.

`records`, `lines`, `tables`, `arrays`, `columns`, `item_rows` and `score_rows` are pure: they read files and
judge rows, and know no database.
"""
