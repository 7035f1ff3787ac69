# expect: destructive@6 side_effect=mutating
run() {
  echo "+ $*"
  "$@"
}
run rm -rf /srv/app/cache
