# expect: side_effect=mutating risk=medium
df -h > report.txt
