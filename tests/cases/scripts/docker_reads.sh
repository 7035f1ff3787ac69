# expect: side_effect=read_only risk=low
docker ps -a --format '{{.Names}}'
docker logs --tail 50 web
