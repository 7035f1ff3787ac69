# expect: destructive@2 privileged@2 privileged@3
echo 1.1.1.1 > /etc/resolv.conf
echo 127.0.0.1 x >> /etc/hosts
