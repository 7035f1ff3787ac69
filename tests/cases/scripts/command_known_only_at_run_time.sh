# expect: ?dynamic_code@2 ?dynamic_code@3 side_effect=unknown
$TOOL --all
"$@"
