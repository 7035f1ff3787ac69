# expect: destructive@2 destructive@3
trap 'rm -f /tmp/lock' EXIT
eval 'rm -rf /srv/a'
