"""Scripts in words, by rule."""

from __future__ import annotations

import pytest

from pipeline.standin.description.script_description import describe


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        pytest.param(
            "find /var/log -xdev -type f -name '*.log' -mtime +30 -delete",
            "Finds regular files under /var/log, with names matching *.log, modified more than 30 "
            "days ago, on one file system only, and deletes them.",
            id="find with its tests and action",
        ),
        pytest.param(
            r"find . \( -name '*.c' -o -name '*.h' \) ! -empty -amin -60",
            "Finds files and directories under the current directory, with names matching *.c or "
            "with names matching *.h, not empty, accessed less than 60 minutes ago.",
            id="find with a choice and a negation",
        ),
        pytest.param(
            "find /srv -path /srv/tmp -prune -o -type f -size +1G -exec ls -l {} +",
            "Finds regular files under /srv, larger than 1 GB, leaving out those with paths "
            "matching /srv/tmp, and lists each of them, with details.",
            id="find that prunes and runs a command",
        ),
        pytest.param(
            "find /a -maxdepth 1 -mtime 0",
            "Finds files and directories directly in /a, modified less than 1 day ago.",
            id="today, in one directory",
        ),
        pytest.param(
            "if sudo nginx -t; then systemctl reload nginx; else echo no >&2; exit 1; fi",
            "Checks the configuration of nginx; if that succeeds, reloads the service nginx; "
            'otherwise prints "no"; ends with status 1.',
            id="if and else, through sudo",
        ),
        pytest.param(
            "[[ -f /etc/x && $n -gt 5 ]] || exit 3",
            "Unless the file /etc/x exists and $n is greater than 5, ends with status 3.",
            id="a condition",
        ),
        pytest.param(
            "((used > 90)) && logger full",
            'If used > 90, writes "full" to the system log.',
            id="arithmetic",
        ),
        pytest.param(
            'for f in *.txt; do mv -- "$f" "${f%.txt}.md"; done',
            "For each $f of *.txt: moves $f to ${f%.txt}.md.",
            id="a loop",
        ),
        pytest.param(
            ': "${DAYS:=30}"\n: "${DIR:?where to look}"\nfind "$DIR" -mtime +"$DAYS"',
            "Finds files and directories under $DIR, modified more than 30 days ago. Needs DIR "
            "(where to look) to be given.",
            id="parameters with and without a default",
        ),
        pytest.param(
            'rule=(--dport 22)\niptables "${rule[@]}"',
            'Runs iptables with "--dport 22".',
            id="an array",
        ),
        pytest.param(
            "grep -ric 'time out' /var/log | sort -t: -k2 -rn | head -n 5 > /tmp/top",
            'Counts the lines of all files below /var/log that contain "time out", ignoring case, '
            'then sorts the lines, split at ":", by column 2, in reverse order, by number, then '
            "keeps the first 5 lines, writing the output to /tmp/top.",
            id="a pipeline into a file",
        ),
        pytest.param(
            "du -sh /srv/* | tail -n 1",
            "Shows the disk usage of /srv/*, as one total each, in readable sizes, then keeps the "
            "last line.",
            id="du",
        ),
        pytest.param(
            "df -h",
            "Shows the free and used disk space of all file systems, in readable sizes.",
            id="df",
        ),
        pytest.param(
            "tar -czf /b/etc.tar.gz -C / etc",
            "Compresses etc into the archive /b/etc.tar.gz, from /.",
            id="tar",
        ),
        pytest.param(
            "gzip -dk a.gz", "Decompresses a.gz, keeping the originals.", id="gzip backwards"
        ),
        pytest.param(
            "journalctl -u nginx --since '1 hour ago' -n 20 --no-pager",
            'Prints the journal, of the service nginx, since "1 hour ago", the last 20 lines.',
            id="journalctl",
        ),
        pytest.param(
            "kubectl rollout restart deployment web -n shop",
            "Restarts deployment web, in the namespace shop.",
            id="kubectl",
        ),
        pytest.param(
            "docker ps -q --filter status=exited | xargs -r docker rm",
            "Lists containers, where status=exited, then deletes each of them.",
            id="docker through xargs",
        ),
        pytest.param(
            "psql -d shop -c 'select 1'",
            'Queries the PostgreSQL database, shop, with "select 1".',
            id="psql",
        ),
        pytest.param(
            "redis-cli -n 2 FLUSHDB",
            "Sends Redis the command FLUSHDB, in database 2.",
            id="redis-cli",
        ),
        pytest.param(
            "sed -i 's/a b/c/g' f",
            'Replaces "a b" by "c" in f, changing the file itself.',
            id="sed",
        ),
        pytest.param(
            "awk '{n[$9]++} END {for (k in n) print k}' log",
            "Counts the lines of log by $9.",
            id="awk",
        ),
        pytest.param(
            'rm -rf -- "$X"/old', "Deletes $X/old, with everything below, without asking.", id="rm"
        ),
        pytest.param(
            "kill $(pgrep -f 'w.*er')",
            "Kills the process \"$(pgrep -f 'w.*er')\", where $(pgrep -f 'w.*er') is the "
            "output of a command that finds processes named w.*er, by their whole command "
            "line.",
            id="a command in a command",
        ),
        pytest.param(
            "bash -c 'sleep 5; uptime'",
            "Waits 5 seconds; shows the uptime, how long the system runs, and its load.",
            id="bash in bash",
        ),
        pytest.param(
            "frobnicate -x 1 a", "Runs frobnicate with -x, 1 and a.", id="an unknown command"
        ),
        pytest.param("/opt/x.sh now", "Runs /opt/x.sh with now.", id="an unknown path"),
        pytest.param("set -e\ntrue", "Does nothing.", id="nothing to tell"),
        pytest.param("", "Does nothing.", id="nothing at all"),
        pytest.param(
            'echo "open', "Prints an empty line. Part of it is not valid Bash.", id="broken"
        ),
        pytest.param(
            "#!/bin/bash\n# Show free space.\nset -e\ndf",
            "By its own comment: Show free space. In detail: Shows the free and used disk space of "
            "all file systems.",
            id="the comment at its head is quoted as such",
        ),
    ],
)
def test_a_script_is_described(script: str, expected: str) -> None:
    assert describe(script) == expected


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("(" * 3000 + ":" + ")" * 3000, id="nested"),
        pytest.param("find " + "! " * 3000 + "-name x", id="many negations"),
        pytest.param("find " + "\\( " * 3000, id="open brackets"),
        pytest.param("echo " + "x" * 200_000, id="long"),
        pytest.param("\x00\x1b[31m %s {} {1} {2:}", id="control characters and slots"),
    ],
)
def test_hostile_scripts_are_described_in_bounds(script: str) -> None:
    assert 0 < len(describe(script)) < 3000
