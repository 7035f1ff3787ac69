# expect: side_effect=unknown risk=medium
psql -c "SELECT do_something(1)"
