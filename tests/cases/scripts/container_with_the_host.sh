# expect: privileged@2 mutating@2
docker run --rm --privileged -v /:/host alpine ls /host
