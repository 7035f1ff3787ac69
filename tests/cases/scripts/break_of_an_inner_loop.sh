# expect: unbounded_loop@2
while true; do
  for i in 1 2; do break; done
done
