# expect: odd_space@2 side_effect=unknown
ls -l
