# expect: side_effect=unknown ?unknown_command@2
find $WHERE -type f
