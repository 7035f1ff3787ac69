# expect: side_effect=unknown
/tmp/ls -l
./ls
