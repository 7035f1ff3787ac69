# expect: ?dynamic_code@2 side_effect=unknown
find . -exec sh -c {} \;
