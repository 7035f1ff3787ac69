# expect: destructive@6 side_effect=mutating
retry() {
  shift
  until "$@"; do sleep 1; done
}
retry 3 rm a
