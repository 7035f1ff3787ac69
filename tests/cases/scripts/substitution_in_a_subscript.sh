# expect: ?not_parsed@2 destructive@2 side_effect=mutating
test -v 'a[$(rm a)]'
