# expect: destructive@2 side_effect=mutating
find . -name '*.tmp' -exec rm {} +
