# expect: side_effect=read_only risk=low
fdisk -l /dev/sda
