# expect: syntax=passed side_effect=mutating
shopt -s extglob
mv !(*.bak) /srv/keep/
