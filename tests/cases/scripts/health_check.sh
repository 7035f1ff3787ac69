# expect: network@2 side_effect=read_only risk=low
curl -fsS -o /dev/null -w '%{http_code}\n' https://example.com/healthz
