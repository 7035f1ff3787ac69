# expect: privileged@2 destructive@2 destructive@3 destructive@4 destructive@5
sudo -u app env LANG=C nice -n 10 rm -rf /srv/a
timeout -k 5 60 nohup rm -rf /srv/b
if ! time rm -rf /srv/c; then :; fi
{ rm -rf /srv/d; } 2>&1
