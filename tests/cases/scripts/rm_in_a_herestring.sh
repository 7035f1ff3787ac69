# expect: destructive@2
bash <<< 'rm -rf /srv/a'
