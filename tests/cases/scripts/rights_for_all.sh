# expect: privileged@2 privileged@3 privileged@4
chmod 777 /srv/app
chmod o+w file
mkdir -m 0777 shared
