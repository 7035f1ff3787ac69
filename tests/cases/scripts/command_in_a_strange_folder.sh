# expect: ?unread_file@2 ?unread_file@3 side_effect=unknown
/tmp/ls -l
./ls
