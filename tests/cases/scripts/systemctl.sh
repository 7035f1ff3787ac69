# expect: mutating@2 mutating@3 mutating@4 side_effect=mutating risk=medium
systemctl stop nginx
systemctl disable --now nginx
systemctl restart nginx
