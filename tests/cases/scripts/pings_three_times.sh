# expect: network@2
ping -c 3 db.internal
