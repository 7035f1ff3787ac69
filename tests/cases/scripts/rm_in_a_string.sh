# expect: side_effect=read_only risk=low
echo "rm -rf /"
printf '%s\n' "sudo rm -rf /"
