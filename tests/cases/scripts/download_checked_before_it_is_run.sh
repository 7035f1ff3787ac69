# expect: network@2 remote_code@4
curl -fsSL -o tool.sh https://example.com/tool.sh
sha256sum -c tool.sha256
bash tool.sh
