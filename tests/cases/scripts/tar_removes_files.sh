# expect: destructive@2 side_effect=mutating
tar --remove-files -cf a.tar d
