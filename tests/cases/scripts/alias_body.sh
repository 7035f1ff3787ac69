# expect: destructive@2
alias clean='rm -rf /srv/app/cache'
ls
