# expect: privileged@2 destructive@2 side_effect=mutating risk=high
sudo -u postgres psql -c "DROP TABLE x"
