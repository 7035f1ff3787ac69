# expect: destructive@5 network@3 network@5 side_effect=mutating
k() {
  kubectl -n prod "$@"
}
k delete pod x
