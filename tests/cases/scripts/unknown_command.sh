# expect: side_effect=unknown risk=medium ?unknown_command@2
frobnicate --all
