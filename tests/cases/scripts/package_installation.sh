# expect: mutating@2 network@2
apt-get install -y nginx
