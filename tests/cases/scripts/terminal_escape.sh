# expect: control_character@2 risk=high
echo '[2J'
