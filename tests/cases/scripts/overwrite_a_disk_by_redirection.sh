# expect: destructive@2 privileged@2 risk=high
cat image.iso > /dev/sdb
