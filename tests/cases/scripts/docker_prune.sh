# expect: destructive@2 destructive@3
docker system prune -af
docker volume rm data
