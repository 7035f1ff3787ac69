"""Tests for rule-based descriptions of scripts."""

from __future__ import annotations

import pytest

from pipeline.standin.description.script_description import describe


def test_a_script_is_described() -> None:
    cases = {
        "find with its tests and action": (
            "find /var/log -xdev -type f -name '*.log' -mtime +30 -delete",
            "Finds regular files under /var/log, with names matching *.log, modified more than 30 "
            "days ago, on one file system only, and deletes them.",
        ),
        "find with a choice and a negation": (
            r"find . \( -name '*.c' -o -name '*.h' \) ! -empty -amin -60",
            "Finds files and directories under the current directory, with names matching *.c or "
            "with names matching *.h, not empty, accessed less than 60 minutes ago.",
        ),
        "find that prunes and runs a command": (
            "find /srv -path /srv/tmp -prune -o -type f -size +1G -exec ls -l {} +",
            "Finds regular files under /srv, larger than 1 GB, leaving out those with paths "
            "matching /srv/tmp, and lists each of them, with details.",
        ),
        "today, in one directory": (
            "find /a -maxdepth 1 -mtime 0",
            "Finds files and directories directly in /a, modified less than 1 day ago.",
        ),
        "if and else, through sudo": (
            "if sudo nginx -t; then systemctl reload nginx; else echo no >&2; exit 1; fi",
            "Checks the configuration of nginx; if that succeeds, reloads the service nginx; "
            'otherwise prints "no"; ends with status 1.',
        ),
        "a condition": (
            "[[ -f /etc/x && $n -gt 5 ]] || exit 3",
            "Unless the file /etc/x exists and $n is greater than 5, ends with status 3.",
        ),
        "arithmetic": (
            "((used > 90)) && logger full",
            'If used > 90, writes "full" to the system log.',
        ),
        "a loop": (
            'for f in *.txt; do mv -- "$f" "${f%.txt}.md"; done',
            "For each $f of *.txt: moves $f to ${f%.txt}.md.",
        ),
        "parameters with and without a default": (
            ': "${DAYS:=30}"\n: "${DIR:?where to look}"\nfind "$DIR" -mtime +"$DAYS"',
            "Finds files and directories under $DIR, modified more than 30 days ago. Requires DIR "
            "(where to look).",
        ),
        "an array": (
            'rule=(--dport 22)\niptables "${rule[@]}"',
            'Runs iptables with "--dport 22".',
        ),
        "a pipeline into a file": (
            "grep -ric 'time out' /var/log | sort -t: -k2 -rn | head -n 5 > /tmp/top",
            'Counts the lines of all files below /var/log that contain "time out", ignoring case, '
            'then sorts the lines, split at ":", by column 2, in reverse order, by number, then '
            "keeps the first 5 lines, writing the output to /tmp/top.",
        ),
        "du": (
            "du -sh /srv/* | tail -n 1",
            "Shows the disk usage of /srv/*, as one total each, in readable sizes, then keeps the "
            "last line.",
        ),
        "df": (
            "df -h",
            "Shows the free and used disk space of all file systems, in readable sizes.",
        ),
        "tar": (
            "tar -czf /b/etc.tar.gz -C / etc",
            "Compresses etc into the archive /b/etc.tar.gz, from /.",
        ),
        "gzip backwards": ("gzip -dk a.gz", "Decompresses a.gz, keeping the originals."),
        "journalctl": (
            "journalctl -u nginx --since '1 hour ago' -n 20 --no-pager",
            'Prints the journal, of the service nginx, since "1 hour ago", the last 20 lines.',
        ),
        "kubectl": (
            "kubectl rollout restart deployment web -n shop",
            "Restarts deployment web, in the namespace shop.",
        ),
        "docker through xargs": (
            "docker ps -q --filter status=exited | xargs -r docker rm",
            "Lists containers, where status=exited, then deletes each of them.",
        ),
        "psql": (
            "psql -d shop -c 'select 1'",
            'Queries the PostgreSQL database, shop, with "select 1".',
        ),
        "redis-cli": ("redis-cli -n 2 FLUSHDB", "Sends Redis the command FLUSHDB, in database 2."),
        "sed": ("sed -i 's/a b/c/g' f", 'Replaces "a b" by "c" in f, changing the file itself.'),
        "awk": ("awk '{n[$9]++} END {for (k in n) print k}' log", "Counts the lines of log by $9."),
        "rm": ('rm -rf -- "$X"/old', "Deletes $X/old, with everything below, without asking."),
        "a command in a command": (
            "kill $(pgrep -f 'w.*er')",
            "Kills the process \"$(pgrep -f 'w.*er')\", where $(pgrep -f 'w.*er') is the "
            "output of a command that finds processes named w.*er, by their whole command "
            "line.",
        ),
        "bash in bash": (
            "bash -c 'sleep 5; uptime'",
            "Waits 5 seconds; shows the uptime, how long the system runs, and its load.",
        ),
        "an unknown command": ("frobnicate -x 1 a", "Runs frobnicate with -x, 1 and a."),
        "an unknown path": ("/opt/x.sh now", "Runs /opt/x.sh with now."),
        "nothing to tell": ("set -e\ntrue", "Does nothing."),
        "nothing at all": ("", "Does nothing."),
        "broken": ('echo "open', "Prints an empty line. Part of it is not valid Bash."),
        "the comment at its head is quoted as such": (
            "#!/bin/bash\n# Show free space.\nset -e\ndf",
            "By its own comment: Show free space. In detail: Shows the free and used disk space of "
            "all file systems.",
        ),
    }
    wrong = {
        name: got
        for name, (script, expected) in cases.items()
        if (got := describe(script)) != expected
    }
    assert not wrong


def test_hostile_scripts_are_described_in_bounds(subtests: pytest.Subtests) -> None:
    cases = {
        "nested": "(" * 3000 + ":" + ")" * 3000,
        "many negations": "find " + "! " * 3000 + "-name x",
        "open brackets": "find " + "\\( " * 3000,
        "long": "echo " + "x" * 200_000,
        "control characters and slots": "\x00\x1b[31m %s {} {1} {2:}",
    }
    for name, script in cases.items():
        with subtests.test(name):
            assert 0 < len(describe(script)) < 3000
