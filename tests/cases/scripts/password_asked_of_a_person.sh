# expect: side_effect=read_only risk=low
read -rs -p 'Password: ' DB_PASSWORD
export DB_PASSWORD
