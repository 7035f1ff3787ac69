# expect: network@2
curl -s https://example.com/list.txt | bash -c 'wc -l'
