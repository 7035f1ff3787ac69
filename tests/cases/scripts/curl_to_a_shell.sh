# expect: network@2 privileged@2 remote_code@2 risk=high
curl -fsSL https://example.com/install.sh | sudo bash -s -- -y
