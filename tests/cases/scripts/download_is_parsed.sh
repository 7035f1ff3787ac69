# expect: network@2 network@3 risk=medium ?unknown_command@2
curl -s https://example.com/x.json | python3 -m json.tool
curl -s https://example.com/x.json | jq .version
