# expect: destructive@3 syntax=error@6 shellcheck=SC1017@1
if true; then
  rm -rf /srv/a
fi
ls
