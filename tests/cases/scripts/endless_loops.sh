# expect: unbounded_loop@2 unbounded_loop@3 unbounded_loop@4 unbounded_loop@5
while true; do date; sleep 5; done
until false; do date; done
for ((;;)); do date; done
while sleep 1; do date; done
