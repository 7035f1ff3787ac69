# expect: destructive@3 unsafe_variable@3
while read -r name; do
  rm -rf "/srv/app/$name"
done < list.txt
