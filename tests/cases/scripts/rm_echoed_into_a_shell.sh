# expect: destructive@2 network@2
echo 'rm -rf /srv/a' | ssh host bash
