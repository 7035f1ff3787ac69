# expect: side_effect=mutating risk=medium
rsync -an --delete /srv/app/ /mnt/app/
