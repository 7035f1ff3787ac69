# expect: side_effect=unknown
find $WHERE -type f
