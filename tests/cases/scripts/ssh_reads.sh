# expect: network@2 side_effect=read_only risk=low
ssh -o ConnectTimeout=5 web1 'df -h / && uptime'
