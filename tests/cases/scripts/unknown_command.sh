# expect: side_effect=unknown risk=medium
frobnicate --all
