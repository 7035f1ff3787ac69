# expect: destructive@2 destructive@3 side_effect=mutating
echo 'rm a' | at now
batch <<< 'rm b'
