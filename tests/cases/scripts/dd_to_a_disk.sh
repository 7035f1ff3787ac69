# expect: destructive@2 privileged@2 risk=high
dd if=/dev/zero of=/dev/sda bs=1M count=10
