# expect: destructive@2 destructive@3 side_effect=mutating ?unknown_command@2
awk 'BEGIN { system("rm a") }'
awk '{ print | "rm b" }' f
