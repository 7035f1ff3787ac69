# expect: network@3 network@5 side_effect=unknown
get() {
  curl -s "$@"
}
get http://x.example
