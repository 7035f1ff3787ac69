# expect: destructive@2 destructive@3 risk=high
mkfs.ext4 /dev/sdb1
wipefs -a /dev/sdb
