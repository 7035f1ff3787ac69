# expect: destructive@2 unsafe_variable@2 risk=high
rm -rf "$DIR"/
