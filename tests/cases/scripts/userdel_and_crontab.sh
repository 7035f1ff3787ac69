# expect: destructive@2 privileged@2 destructive@3
userdel -r bob
crontab -r
