# expect: side_effect=unknown
export "PATH=/tmp"
ls
