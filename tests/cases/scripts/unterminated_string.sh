# expect: destructive@2 unparsed@2 syntax=error@2
rm -rf "/srv/a
ls
