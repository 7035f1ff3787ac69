# expect: odd_space@2 side_effect=unknown ?unknown_command@2
ls -l
