# expect: side_effect=unknown
awk '{print $1 > "out.txt"}' in.txt
