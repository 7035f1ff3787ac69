#!/usr/bin/env bash
# Drop packets from 203.0.113.45 to port 443; add the rule only once.
set -euo pipefail

rule=(INPUT --protocol tcp --source 203.0.113.45 --dport 443 --jump DROP)

if sudo iptables --check "${rule[@]}" 2>/dev/null; then
  echo "The rule is there already"
else
  sudo iptables --insert "${rule[@]}"
fi
sudo iptables --list INPUT --numeric --verbose --line-numbers
