# expect: unbounded_loop@2
watch_disk() { while :; do df -h; sleep 60; done; }
watch_disk
