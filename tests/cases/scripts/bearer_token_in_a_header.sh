# expect: network@2 secrets@2
curl -s -H 'Authorization: Bearer abcdef0123456789' https://example.com/api
