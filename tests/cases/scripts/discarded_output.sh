# expect: side_effect=read_only risk=low
ls >/dev/null 2>&1
ls &>/dev/null
ls >&2
