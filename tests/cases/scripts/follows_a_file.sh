# expect: unbounded_loop@2 unbounded_loop@3
tail -f /var/log/syslog
watch -n 1 date
