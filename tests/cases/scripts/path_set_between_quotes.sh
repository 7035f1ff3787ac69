# expect: side_effect=unknown ?unknown_command@2
export "PATH=/tmp"
ls
