# expect: side_effect=read_only
DB_PASSWORD=$(cat /run/secrets/db)
API_TOKEN="${API_TOKEN:?set it}"
PASSWORD_FILE=/run/secrets/db
TOKEN='<change-me>'
