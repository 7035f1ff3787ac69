# expect: reads_secrets@2 side_effect=unknown
DB_PASSWORD=$(cat /run/secrets/db)
API_TOKEN="${API_TOKEN:?set it}"
PASSWORD_FILE=/run/secrets/db
TOKEN='<change-me>'
