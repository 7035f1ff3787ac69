# expect: network@2 side_effect=read_only risk=low
kubectl -n prod get pods -o wide
