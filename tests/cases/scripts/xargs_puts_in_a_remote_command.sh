# expect: unseen_code@2 network@2 side_effect=unknown
cat list | xargs -I{} ssh host {}
