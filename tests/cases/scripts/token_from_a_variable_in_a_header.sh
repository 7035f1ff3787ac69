# expect: network@2
curl -s -H "Authorization: Bearer $API_TOKEN" https://example.com/api
