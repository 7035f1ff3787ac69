# expect: look_alike@2 look_alike@3 look_alike@4 side_effect=unknown ?unknown_command@2
lѕ -l
ls –l
ls “a b”
