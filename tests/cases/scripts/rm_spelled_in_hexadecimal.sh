# expect: destructive@2 side_effect=mutating
$'\x72\x6d' -rf /srv/app/cache
