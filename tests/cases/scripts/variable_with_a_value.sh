# expect: destructive@3
DIR=/srv/app/cache
rm -rf $DIR/*
