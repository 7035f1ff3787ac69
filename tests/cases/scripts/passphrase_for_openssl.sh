# expect: secrets@2 side_effect=unknown ?unknown_command@2
openssl rsa -in key.pem -passin pass:hunter22 -noout
