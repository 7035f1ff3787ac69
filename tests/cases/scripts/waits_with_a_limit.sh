# expect: side_effect=read_only
tries=0
while true; do
  pgrep -x nginx && break
  tries=$((tries + 1))
  if [ "$tries" -ge 30 ]; then exit 1; fi
  sleep 1
done
