# expect: side_effect=unknown
PATH=/tmp:$PATH
ls
