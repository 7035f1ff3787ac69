# expect: network@2 side_effect=unknown
ssh -o ProxyCommand='nc %h %p' web1 uptime
