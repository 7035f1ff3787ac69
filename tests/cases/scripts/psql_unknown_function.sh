# expect: side_effect=unknown risk=medium ?unknown_command@2
psql -c "SELECT do_something(1)"
