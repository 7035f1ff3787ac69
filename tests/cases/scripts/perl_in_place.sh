# expect: side_effect=mutating
perl -pi -e 's/a/b/' f
