# expect: destructive@2 destructive@3 destructive@4
> app.log
: > other.log
cat /dev/null > third.log
