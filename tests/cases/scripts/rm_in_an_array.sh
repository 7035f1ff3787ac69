# expect: destructive@4 side_effect=mutating
command=(rm -rf)
command+=(/srv/app/cache)
"${command[@]}"
