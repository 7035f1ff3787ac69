# expect: destructive@2 network@3 destructive@3
docker exec -it web sh -c 'rm -rf /srv/cache'
kubectl exec web-1 -n prod -- rm -rf /srv/cache
