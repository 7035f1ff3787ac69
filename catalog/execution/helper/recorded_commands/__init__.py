"""Commands that answer from a record: the files over /usr/bin, and who answers them."""
