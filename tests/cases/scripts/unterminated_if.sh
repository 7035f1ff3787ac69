# expect: destructive@3 ?not_parsed@4 syntax=error@4
if true; then
  rm -rf /srv/a
