# expect: bidi_control@2 zero_width@3 risk=high
echo 'safe‮'
echo a​b
