# expect: side_effect=read_only
timeout 60 bash -c 'while true; do date; sleep 1; done'
