# expect: side_effect=mutating risk=medium
dd if=/dev/sda of=/dev/null bs=1M count=10
