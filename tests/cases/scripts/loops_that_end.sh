# expect: side_effect=read_only risk=low
while true; do date && break; done
while :; do [ -e /tmp/x ] && exit 0; done
for ((i = 0; i < 3; i++)); do date; done
while read -r line; do echo "$line"; done < list.txt
until pgrep -x nginx; do sleep 1; done
