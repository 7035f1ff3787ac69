# expect: side_effect=unknown ?unknown_command@2
awk '{print $1 > "out.txt"}' in.txt
