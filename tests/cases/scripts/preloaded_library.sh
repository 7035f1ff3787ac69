# expect: side_effect=unknown ?unknown_command@2
LD_PRELOAD=/tmp/x.so ls
