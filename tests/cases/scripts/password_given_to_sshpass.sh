# expect: secrets@2 network@2
sshpass -p hunter22 ssh web1 uptime
