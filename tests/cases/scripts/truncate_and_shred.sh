# expect: destructive@2 destructive@3
truncate -s 0 /srv/app/app.log
shred -u secret.txt
