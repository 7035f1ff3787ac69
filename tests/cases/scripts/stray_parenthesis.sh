# expect: ?not_parsed@2 syntax=error@2
echo a )
