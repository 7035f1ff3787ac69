# expect: network@2 mutating@2 network@3 destructive@3
curl -X POST -d '{}' https://example.com/api
curl -X DELETE https://example.com/api/7
