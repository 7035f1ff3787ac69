# expect: network@2 secrets@2 network@3 secrets@3 network@4 secrets@4
curl -u admin:hunter22 https://example.com
wget --password=hunter22 https://example.com -O -
curl https://bob:hunter22@example.com/
