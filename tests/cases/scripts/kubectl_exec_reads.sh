# expect: network@2 side_effect=read_only
kubectl -n prod exec pod -- ls /
