"""Tests that destructive commands are found in every kind of disguise."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from catalog.analysis import Outcome, Report, Risk, analyse_static
from tests.catalog.analysis.case_files import read_cases

PART = re.compile(r"«|\$\{?(?:c|p|cmd|tool)\b")
PAIRS = read_cases("disguised_commands.txt")["commands"]
DESTRUCTIVE = [destructive for destructive, _ in PAIRS]
HARMLESS = [harmless for _, harmless in PAIRS]
# «cmd» is the command, «head» is all but its last word, «last» is that word, and «b64», «hex», «rev», «oct» and «rot»
# are encodings of the command. Each command gets one variant of each kind.
DISGUISES = {
    "here-document": (
        "bash <<'EOF'\nset -e\n«cmd»\nEOF\n",
        "cat > /tmp/step.sh <<EOF\n#!/bin/bash\n«cmd»\nEOF\nchmod +x /tmp/step.sh\n/tmp/step.sh\n",
        "sudo -u deploy bash -s <<-'END' 2>&1 | tee -a /tmp/log\n\t«cmd»\n\tEND\n",
        "cat <<EOF>/tmp/job && sh /tmp/job\n«cmd»\nEOF\n",
        "base64 -d <<'X' | sh\n«b64»\nX\n",
    ),
    "pipe": (
        "set -e\necho «b64» | base64 -d | bash\n",
        "printf '%s\\n' 'set -e' '«cmd»' | sudo sh\n",
        "echo «hex» | xxd -r -p | sh -s --\n",
        "cd /tmp\necho '«rev»' | rev | tee /dev/stderr | bash\n",
        "echo '«rot»' | tr 'A-Za-z' 'N-ZA-Mn-za-m' | sh\n",
        "printf '«oct»' | bash\n",
    ),
    "option": (
        "tar cf /tmp/a.tar /srv/app --checkpoint=1 --checkpoint-action=exec='«cmd»'\n",
        "git -c alias.sync='!«cmd»' sync\n",
        "rsync -a -e 'sh -c \"«cmd»\"' src/ host:/dst\n",
        "script -qc '«cmd»' /dev/null\n",
        "tmux new-session -d -s job '«cmd»'\n",
        "sed '1e «cmd»' /etc/hostname\n",
        "vim -es -c ':!«cmd»' -c ':q'\n",
        "psql -d shop -c '\\! «cmd»'\n",
        "split -l 10 --filter='«cmd»' /tmp/list\n",
        "ssh -o ProxyCommand='«cmd»' bastion true\n",
        "ip netns exec blue timeout 60 «cmd»\n",
    ),
    "function": (
        'run() {\n  echo "+ $*"\n  "$@"\n}\nrun «cmd»\n',
        "cleanup() {\n  «cmd»\n}\ntrap cleanup EXIT\n",
        'step() { eval "$1"; }\nstep \'«cmd»\'\n',
        'remote() {\n  local h=$1\n  shift\n  ssh "$h" "$@"\n}\nremote db1 «cmd»\n',
    ),
    "loop": (
        'for target in «last»; do\n  «head» "$target"\ndone\n',
        "while read -r t; do\n  «head» \"$t\"\ndone <<'L'\n«last»\nL\n",
        "for c in 'true' '«cmd»'; do\n  $c\ndone\n",
        "for c in true '«cmd»'; do\n  bash -c \"$c\"\ndone\n",
        "until «cmd»; do sleep 5; done\n",
    ),
    "ssh": (
        "ssh -o BatchMode=yes root@db1 '«cmd»'\n",
        'ssh db1 sudo bash -c "\'«cmd»\'"\n',
        "for h in a b; do\n  ssh \"$h\" <<'EOF'\n    «cmd»\nEOF\ndone\n",
        "ssh db1 'echo «b64» | base64 -d | sh'\n",
        "c='«cmd»'\nssh -tt db1 \"$c\"\n",
        "pssh -h hosts.txt -i '«cmd»'\n",
    ),
    "xargs": (
        "echo «last» | xargs «head»\n",
        "printf '%s\\n' «last» | xargs -r -n1 -I% «head» %\n",
        "seq 3 | xargs -P2 -I{} sh -c '«cmd»'\n",
        "echo '«cmd»' | xargs -I{} sh -c '{}'\n",
        "cat <<L | parallel -j2 «head» {}\n«last»\nL\n",
    ),
    "find": (
        "find /srv -maxdepth 0 -exec «cmd» \\;\n",
        "find . -name job -exec sh -c '«cmd»' \\;\n",
        "find /tmp -name '*.job' -execdir bash -c 'echo «b64» | base64 -d | sh' {} +\n",
        "find /tmp -newer x -ok nice «cmd» \\;\n",
    ),
    "eval": (
        "eval '«cmd»'\n",
        'eval "$(echo «b64» | base64 -d)"\n',
        'c=«b64»\neval "$(base64 -d <<< "$c")"\n',
        "bash -c \"$(printf '«oct»')\"\n",
        "source <(echo '«cmd»')\n",
        "eval $(echo «hex» | xxd -r -p)\n",
    ),
    "variable": (
        "tool=«name»\nargs='«rest»'\n$tool $args\n",
        'target=«last»\n«head» "$target"\n',
        "a=«name1»\nb=«name2»\n$a$b «rest»\n",
        'cmd=(«cmd»)\n"${cmd[@]}"\n',
        "p='«cmd»'\nsudo sh -c \"$p\"\n",
        "b=$(echo «name» | tr a-z a-z)\n\"$b\" «rest»\n",
    ),
}  # fmt: skip


ROT13 = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "NOPQRSTUVWXYZABCDEFGHIJKLMnopqrstuvwxyzabcdefghijklm",
)


def encodings(command: str) -> dict[str, str]:
    head, _, last = command.rpartition(" ")
    name, _, rest = command.partition(" ")
    return {
        **{"cmd": command, "head": head, "last": last, "name": name, "rest": rest},
        **{"name1": name[:1], "name2": name[1:], "rev": command[::-1]},
        "b64": base64.b64encode(command.encode()).decode(),
        "hex": command.encode().hex(),
        "oct": "".join(f"\\{ord(letter):03o}" for letter in command),
        "rot": command.translate(ROT13),
    }


def disguised(commands: list[str]) -> Iterator[tuple[str, set[int]]]:
    """Yield each script with the lines that contain part of the command or run the command from a variable."""
    for number, command in enumerate(commands):
        for kind, variants in enumerate(DISGUISES.values()):
            template = script = variants[(number + kind) % len(variants)]
            for key, text in encodings(command).items():
                script = script.replace(f"«{key}»", text)
            lines = enumerate(template.splitlines(), 1)
            yield script, {at for at, line in lines if PART.search(line)}


def lines_of(report: Report, *outcomes: Outcome, code: str = "") -> set[int]:
    return {
        found.line or 0
        for found in report.findings
        if found.outcome in outcomes and code in ("", found.code)
    }


def test_disguised_destructive_command_is_found_at_its_line() -> None:
    missed, unreported = [], []
    for script, lines in disguised(DESTRUCTIVE):
        report = analyse_static(script)
        if not lines_of(report, Outcome.FAILED, code="destructive") & lines:
            missed.append(script)
            if not lines_of(report, Outcome.FAILED, Outcome.UNSCORED) & lines:
                unreported.append(script)
    assert not unreported
    assert len(missed) <= 30, missed


def test_disguised_harmless_command_is_seldom_high() -> None:
    scripts = [script for script, _ in disguised(HARMLESS)]
    high = [script for script in scripts if analyse_static(script).risk is Risk.HIGH]
    assert len(scripts) == 300
    assert len(high) <= 15, high
