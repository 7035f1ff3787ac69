# expect: destructive@3 destructive@5 destructive@7
if true; then
  rm -rf /srv/a
else
  rm -rf /srv/b
fi
for f in a b; do rm -rf "/srv/app/$f"; done
