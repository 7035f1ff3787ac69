# expect: side_effect=unknown
LD_PRELOAD=/tmp/x.so ls
