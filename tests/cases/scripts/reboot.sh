# expect: mutating@2
shutdown -r now
