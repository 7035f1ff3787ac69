# expect: unseen_code@2 side_effect=unknown
ls | xargs -I{} bash -c {}
