# expect: destructive@2
echo 'DROP DATABASE app;' | psql -h db
