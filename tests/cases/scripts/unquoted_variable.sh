# expect: destructive@3 unsafe_variable@3
DIR=${1:?which folder}
rm -rf $DIR
