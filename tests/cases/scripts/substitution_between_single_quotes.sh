# expect: ?not_parsed@2 destructive@2 side_effect=mutating
echo "${x:-'$(rm a)'}"
