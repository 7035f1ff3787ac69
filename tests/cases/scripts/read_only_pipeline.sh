# expect: side_effect=read_only risk=low
#!/usr/bin/env bash
set -euo pipefail
LC_ALL=C
df -hP | awk 'NR > 1 && $5 + 0 > 80 {print $6, $5}' | sort -k2 -rn | head -n 5
ps aux --sort=-%mem | sed -n '1,6p'
find /var/log -type f -size +100M -printf '%s %p\n' 2>/dev/null | sort -rn
