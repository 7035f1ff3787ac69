# expect: side_effect=mutating ?unknown_command@3
alias rm='rm -i'
launch_missiles
