# expect: network@2 side_effect=unknown
ssh $options host uptime
