# expect: destructive@2 side_effect=mutating
ls | xargs -I{} rm -rf /srv/{}
