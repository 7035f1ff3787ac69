# expect: side_effect=read_only risk=low
redis-cli -h cache INFO memory
