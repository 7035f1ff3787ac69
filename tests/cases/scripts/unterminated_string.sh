# expect: destructive@2 ?not_parsed@3 syntax=error@2
rm -rf "/srv/a
ls
