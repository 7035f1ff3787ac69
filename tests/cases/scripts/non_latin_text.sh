# expect: side_effect=read_only
echo 'Привет, мир — “здравствуй” 👩‍💻 日本語'  # комментарий
ls /srv/Übersicht
