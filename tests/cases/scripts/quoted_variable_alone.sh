# expect: destructive@2
rm -rf "$DIR"
