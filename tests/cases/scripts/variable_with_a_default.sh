# expect: destructive@3
DIR=${1:-/srv/app/cache}
rm -rf "$DIR"/*
