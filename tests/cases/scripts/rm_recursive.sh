# expect: destructive@2 side_effect=mutating risk=high
rm -rf /srv/app/cache
