# expect: unparsed@2 syntax=error@2
echo a )
