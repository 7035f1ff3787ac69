# expect: destructive@2 risk=high
rm -rf /*
