"""What a person chose for themselves: time zone, theme, keys of the pages."""
