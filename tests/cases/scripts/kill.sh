# expect: mutating@2 mutating@3 side_effect=mutating
kill -9 "$(pgrep java)"
pkill -f gunicorn
kill -0 1234
