# expect: destructive@3 side_effect=mutating
DELETE="rm -rf"
$DELETE /srv/app/cache
