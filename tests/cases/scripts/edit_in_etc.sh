# expect: privileged@2
sed -i 's/^#Port 22/Port 2222/' /etc/ssh/sshd_config
