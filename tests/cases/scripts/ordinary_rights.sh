# expect: side_effect=mutating risk=medium
chmod 755 run.sh
chmod +x run.sh
chmod 1777 shared
chmod u=rw,go=r file
