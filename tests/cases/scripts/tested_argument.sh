# expect: destructive@4
DIR=$1
[ -n "$DIR" ] || exit 1
rm -rf "$DIR"/*
