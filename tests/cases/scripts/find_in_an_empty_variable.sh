# expect: destructive@2 unsafe_variable@2
find $DIR -name '*.log' -delete
