# expect: privileged@2 privileged@3
useradd -m bob
usermod -aG docker bob
