# expect: ?not_parsed@2 destructive@2 side_effect=mutating
echo ${x:-${y:-`rm a`}}
