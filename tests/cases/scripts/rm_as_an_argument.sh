# expect: side_effect=read_only risk=low
grep -rn rm .
which rm
type -a rm mkfs dd
command -v rm
