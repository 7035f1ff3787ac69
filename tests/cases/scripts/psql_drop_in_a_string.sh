# expect: side_effect=read_only risk=low
psql -c "SELECT max(id) FROM notes WHERE body = 'please DROP TABLE x; now'"
