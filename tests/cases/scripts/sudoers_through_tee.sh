# expect: privileged@2 privileged@3 risk=medium
echo 'bob ALL=(ALL) ALL' | sudo tee -a /etc/sudoers.d/bob
echo key >> ~/.ssh/authorized_keys
