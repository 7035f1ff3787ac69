# expect: side_effect=unknown
sort -o out.txt in.txt
