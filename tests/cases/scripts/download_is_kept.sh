# expect: network@2
curl -fsSL -o backup.tar.gz https://example.com/backup.tar.gz
tar -tzf backup.tar.gz
