# expect: side_effect=unknown risk=medium ?unknown_command@2
sed -n 's/a/b/w out.txt' in.txt
