# expect: destructive@2 risk=high
rm 2>/dev/null -rf /srv/app/cache
