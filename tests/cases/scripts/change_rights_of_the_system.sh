# expect: destructive@2 privileged@2
chmod -R 777 /
