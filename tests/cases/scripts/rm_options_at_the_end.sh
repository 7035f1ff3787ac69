# expect: destructive@2 risk=high
rm /srv/app/cache --recursive --force
