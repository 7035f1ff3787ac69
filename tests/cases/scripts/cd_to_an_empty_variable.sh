# expect: destructive@3 unsafe_variable@3
cd "$BUILD"
rm -rf *
