# expect: destructive@2 network@2 side_effect=mutating
kubectl -n prod delete pod web-1
