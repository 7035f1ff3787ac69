# expect: side_effect=read_only risk=low
# rm -rf /srv
ls -l # sudo rm -rf /
