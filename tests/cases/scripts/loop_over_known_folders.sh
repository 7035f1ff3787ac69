# expect: destructive@3
for d in /srv/a /srv/b; do
  rm -rf "$d"/*
done
