# expect: side_effect=read_only risk=low
HINT="rm -rf /tmp/x"
echo "$HINT"
