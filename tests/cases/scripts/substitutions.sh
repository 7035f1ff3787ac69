# expect: destructive@2 destructive@3 destructive@4
x=$(rm -rf /srv/a)
y=`rm -rf /srv/b`
cat <(rm -rf /srv/c)
