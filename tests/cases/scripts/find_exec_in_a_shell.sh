# expect: destructive@2 side_effect=mutating
find . -name '*.o' -exec sh -c 'rm -f "$1"' _ {} \;
