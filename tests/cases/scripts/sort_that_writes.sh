# expect: side_effect=unknown ?unknown_command@2
sort -o out.txt in.txt
