# expect: syntax=passed shellcheck=silenced@2
# shellcheck disable=SC2086
ls $1
