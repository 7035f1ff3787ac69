# expect: secrets@2 network@3 secrets@3
DATABASE_URL=postgres://app:hunter22@db.internal/app
curl -s https://deploy:hunter22@example.com/hook
