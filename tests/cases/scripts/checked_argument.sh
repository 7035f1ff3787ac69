# expect: destructive@3
DIR=${1:?which folder}
rm -rf "$DIR"/*
