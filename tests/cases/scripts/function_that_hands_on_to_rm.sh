# expect: destructive@3 destructive@5 side_effect=mutating
clean() {
  rm -rf "$@"
}
clean /
