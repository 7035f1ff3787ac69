# expect: side_effect=read_only risk=low
systemctl is-active nginx
systemctl status nginx --no-pager
systemctl list-units --failed
