# expect: side_effect=read_only risk=low
journalctl -u nginx -n 50 --no-pager
