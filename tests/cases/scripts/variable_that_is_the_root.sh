# expect: destructive@3
DIR=/
rm -rf "$DIR"
