# expect: destructive@2 spliced_value@2 side_effect=mutating
parallel 'rm -f {}' ::: a b
