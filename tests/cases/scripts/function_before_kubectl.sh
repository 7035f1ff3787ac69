# expect: destructive@5 network@3 network@5 side_effect=mutating ?unknown_command@3
k() {
  kubectl -n prod "$@"
}
k delete pod x
