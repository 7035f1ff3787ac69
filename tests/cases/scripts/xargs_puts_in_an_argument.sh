# expect: side_effect=read_only
ls | xargs -I{} bash -c 'cat "$1"' _ {}
