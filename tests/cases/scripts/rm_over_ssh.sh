# expect: network@2 destructive@4
ssh -p 2222 ops@web1 '
  df -h
  rm -rf /srv/app/old
'
