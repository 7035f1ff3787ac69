# expect: spliced_value@2 side_effect=unknown
ls | xargs -I% sh -c 'cat %'
