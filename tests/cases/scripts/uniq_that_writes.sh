# expect: side_effect=unknown ?unknown_command@2
uniq in.txt out.txt
