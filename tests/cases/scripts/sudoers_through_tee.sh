# expect: privileged@2 back_door@3 risk=high
echo 'bob ALL=(ALL) ALL' | sudo tee -a /etc/sudoers.d/bob
echo key >> ~/.ssh/authorized_keys
