# expect: syntax=passed shellcheck=SC1087@3
names=(a b)
echo "$names[1]"
