# expect: destructive@3 destructive@4
bash -s <<'EOF'
rm -rf /srv/a
  rm -rf /srv/b
EOF
