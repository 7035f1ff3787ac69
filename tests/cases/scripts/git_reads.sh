# expect: side_effect=read_only risk=low
git status --short
git log --oneline -n 5
git -C /srv/app rev-parse HEAD
git branch -a
