# expect: destructive@2 destructive@3 destructive@4 network@4
git clean -fdx
git reset --hard HEAD~1
git push --force origin main
