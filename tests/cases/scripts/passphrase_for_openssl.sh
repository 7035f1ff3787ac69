# expect: secrets@2 side_effect=unknown
openssl rsa -in key.pem -passin pass:hunter22 -noout
