# expect: network@2 remote_code@4
curl -o /tmp/install.sh https://example.com/install.sh
chmod +x /tmp/install.sh
/tmp/install.sh
