#!/usr/bin/env bash
# Raise LimitNOFILE of haproxy.service to 65536 by a drop-in; restart it only if it is configured well.
set -euo pipefail

drop_in=/etc/systemd/system/haproxy.service.d/open-files.conf

sudo haproxy -c -f /etc/haproxy/haproxy.cfg
sudo install -d -m 755 "$(dirname "$drop_in")"
printf '[Service]\nLimitNOFILE=65536\n' | sudo tee "$drop_in"
sudo systemctl daemon-reload
sudo systemctl restart haproxy.service
grep 'Max open files' "/proc/$(systemctl show --property=MainPID --value haproxy.service)/limits"
