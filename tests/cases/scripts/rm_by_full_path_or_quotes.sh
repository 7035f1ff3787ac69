# expect: destructive@2 destructive@3 destructive@4 destructive@5 side_effect=mutating
/bin/rm -r /srv/a
\rm -r /srv/b
'rm' -r /srv/c
r''m -r /srv/d
