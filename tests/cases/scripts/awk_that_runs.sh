# expect: destructive@2 destructive@3 side_effect=mutating
awk 'BEGIN { system("rm a") }'
awk '{ print | "rm b" }' f
