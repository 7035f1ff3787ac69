# expect: side_effect=read_only
export PATH=/usr/local/bin:/usr/bin:$PATH
ls
