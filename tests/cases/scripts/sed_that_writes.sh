# expect: side_effect=unknown risk=medium
sed -n 's/a/b/w out.txt' in.txt
