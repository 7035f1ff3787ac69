# expect: destructive@2 destructive@3
redis-cli -h cache FLUSHALL
redis-cli flushdb async
