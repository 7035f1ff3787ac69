# expect: destructive@2 side_effect=mutating risk=medium
rm /tmp/report.txt
