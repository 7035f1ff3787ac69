# expect: risk=low
while true; do
  for i in 1 2; do break 2; done
done
