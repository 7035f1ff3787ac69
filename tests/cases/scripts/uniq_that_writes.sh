# expect: side_effect=unknown
uniq in.txt out.txt
