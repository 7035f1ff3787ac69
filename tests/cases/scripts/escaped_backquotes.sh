# expect: side_effect=read_only
echo "a\`rm a\`" '`rm b`' # `rm c`
