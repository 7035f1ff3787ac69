# expect: ?not_parsed@4 syntax=warning@2
cat <<EOF
rm -rf /
