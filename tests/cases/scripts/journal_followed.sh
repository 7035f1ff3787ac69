# expect: unbounded_loop@2
journalctl -u nginx -f
