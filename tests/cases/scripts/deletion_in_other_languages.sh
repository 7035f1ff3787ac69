# expect: destructive@2 destructive@3 destructive@4 destructive@5 side_effect=mutating ?unknown_command@4
python3 -c 'import os; os.remove("a")'
perl -e 'unlink "a"'
python3 -c 'import os; os.system("rm a")'
ruby -e 'FileUtils.rm_rf("a")'
