# expect: privileged@2 privileged@3
chmod u+s /srv/tool
chmod 4755 /srv/tool
