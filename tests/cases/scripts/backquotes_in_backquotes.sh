# expect: destructive@2 side_effect=mutating
echo `echo \`rm a\``
