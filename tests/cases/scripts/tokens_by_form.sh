# expect: secrets@2 secrets@3 secrets@4
# key AKIAABCDEFGHIJKLMNOP
echo ghp_abcdefghijklmnopqrstuvwxyz0123456789
echo '-----BEGIN OPENSSH PRIVATE KEY-----'
