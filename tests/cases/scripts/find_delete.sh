# expect: destructive@2 risk=high
find /var/log/app -name '*.gz' -mtime +30 -delete
