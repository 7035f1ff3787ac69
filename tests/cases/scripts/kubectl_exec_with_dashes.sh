# expect: destructive@2 destructive@3 network@2 network@3 side_effect=mutating
kubectl -n prod exec pod -- rm a
kubectl -n prod exec -it pod -- sh -c 'rm b'
