# expect: privileged@3 mutating@4 side_effect=mutating
nginx -t
cp -a /srv/nginx.conf /etc/nginx/nginx.conf
systemctl reload nginx
