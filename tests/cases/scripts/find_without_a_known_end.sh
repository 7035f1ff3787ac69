# expect: side_effect=unknown ?unknown_command@2
find . -exec ls {} "$END"
