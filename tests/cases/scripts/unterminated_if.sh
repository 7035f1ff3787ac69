# expect: destructive@3 unparsed@2 syntax=error@4
if true; then
  rm -rf /srv/a
