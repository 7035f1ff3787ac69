# expect: side_effect=read_only
wait_for() { while :; do pgrep -x nginx && return 0; sleep 1; done; }
wait_for
