# expect: secrets@2 secrets@3
DB_PASSWORD='correct-horse'
PGPASSWORD=correct-horse psql -l
