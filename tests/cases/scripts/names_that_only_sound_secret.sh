# expect: side_effect=read_only
PASSWORD_POLICY=strict
TOKENS=3
grep -c password /etc/pam.d/common-auth
