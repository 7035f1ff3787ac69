# expect: destructive@2 side_effect=mutating
find /tmp -name 'x*' -print0 | xargs -0 -r -n 50 rm -f
