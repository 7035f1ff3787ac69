# expect: destructive@2 side_effect=mutating
source /dev/stdin <<< 'rm a'
