# expect: side_effect=mutating
alias rm='rm -i'
launch_missiles
