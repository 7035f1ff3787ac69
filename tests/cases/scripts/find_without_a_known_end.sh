# expect: side_effect=unknown
find . -exec ls {} "$END"
