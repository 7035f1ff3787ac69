# expect: privileged@2 side_effect=read_only risk=low
sudo -n journalctl -u nginx --since '1 hour ago' --no-pager
