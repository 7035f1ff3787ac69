# expect: unparsed@2 destructive@3 syntax=warning@2
cat <<EOF
rm -rf /
