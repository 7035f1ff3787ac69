# expect: network@2 unbounded_loop@2
ping db.internal
