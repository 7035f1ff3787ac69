# expect: destructive@2 exfiltration@2 network@2 side_effect=mutating
rsync -a --delete /srv/app/ backup:/srv/app/
