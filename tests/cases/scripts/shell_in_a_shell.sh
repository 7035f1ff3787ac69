# expect: privileged@2 destructive@2
sudo bash -c "bash -c 'rm -rf /srv/a'"
