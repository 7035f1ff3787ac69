# expect: destructive@2 destructive@3 network@2 network@3 side_effect=mutating
ssh host -- rm a
ssh host -p 22 rm b
