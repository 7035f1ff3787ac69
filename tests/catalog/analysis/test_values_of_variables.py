"""What is known of a variable: whether it can be empty, is a switch, or takes many values."""

from __future__ import annotations

from catalog.analysis import analyse_static, mask_secrets


def codes(script: str, code: str) -> list[str]:
    return [f.level.value for f in analyse_static(script).findings if f.code == code]


DELETES = '\nrm -rf "$D"/*'
NEVER_EMPTY = [
    *(f"{before}{DELETES}" for before in (
        "D=/srv/x", ': "${D:?}"', '[ -n "$D" ] || exit 1', "D=${1:?}", "D=${D:-/srv/y}", "readonly D=/srv/q",
        "if x; then D=/a/b; else D=/c/d; fi", "case $1 in a) D=/x/a ;; *) D=/x/b ;; esac", "D=$(mktemp -d)",
        '[ -z "$D" ] && { echo no; exit 1; }', '[ -d "$D" ] || die no', '[ -z "$D" ] && D=/srv/z',
        "stop() { exit 1; }\n[[ $D ]] || stop", "D=/srv/$(date +%F)",
    )),
    'if [ -n "$D" ]; then\n  rm -rf "$D"/*\nfi',
    '[ -n "$D" ] && rm -rf "$D"/*',
    'for d in a b; do rm -rf "/$d"/*; done',
    'A=(/srv/a /srv/b); for d in "${A[@]}"; do rm -rf "$d"/*; done',
    'for d in "$A" "$B"; do [ -n "$d" ] || continue; rm -rf "$d"/*; done',
    'f() { local d="$1"; rm -rf "$d"/*; }\nf /srv/a',
    'f() { [ -n "$1" ] || return 1; rm -rf "$1"/*; }\nf $x',
]  # fmt: skip
MAYBE_EMPTY = [
    *(f"{before}{DELETES}" for before in (
        "", "D=$1", '[ -n "$D" ] && echo', 'if [ -n "$D" ]; then echo; fi', "set -u; D=$1", "D=$(cat f)",
        "if x; then D=/srv/a; fi", 'D=/a; D=""', '[ -n "$D" ] || exit\nD=$(cat f)', '[ -n "$D" ] && exit',
        "read -r D", '[ -n "$D" ] || echo no', "[ $# -eq 1 ] || exit\nD=$1",
    )),
    'f() { local d="$1"; rm -rf "$d"/*; }\nf "$x"',
]  # fmt: skip


def test_empty_variable_is_reported_only_if_it_can_be_empty() -> None:
    assert [script for script in NEVER_EMPTY if codes(script, "unsafe_variable")] == []
    assert [script for script in MAYBE_EMPTY if not codes(script, "unsafe_variable")] == []


MANY = [
    "rm -f /var/log/*.gz",
    'D=/var/log\nrm -f "$D"/*.gz',
    'for f in /var/log/*.gz; do rm -f "$f"; done',
    'for f in $(find /x); do rm -f "$f"; done',
    'find /x | while read -r f; do rm "$f"; done',
    'for f in "$@"; do rm -f "$f"; done',
    'while IFS= read -r f; do rm -f "/x/$f"; done <list',
    'mapfile -t F <l; for f in "${F[@]}"; do rm "$f"; done',
    'for f in "$a" "$b"; do rm -f "$f"; done',
    "ls *.bak | xargs rm -f",
]
FEW = [
    "rm -f a.txt",
    'for f in a.txt b.txt; do rm -f "$f"; done',
    'for i in 1 2; do rm -f "$LOCK"; done',
    'rm -f "/var/log/*.gz"',
    'for i in 1 2; do tmp=$(mktemp); rm -f "$tmp"; done',
]


def test_loop_over_files_has_the_grade_of_a_pattern() -> None:
    assert {script: codes(script, "destructive") for script in MANY} == dict.fromkeys(
        MANY, ["warning"]
    )
    assert {script: codes(script, "destructive") for script in FEW} == dict.fromkeys(FEW, ["info"])


SWITCHES = [
    "D=false\nif $D; then ls; fi",
    'D=false\n[ "$1" = -n ] && D=true\nif $D; then ls; fi',
    "D=true\nwhile getopts D o; do case $o in D) D=false ;; esac; done\n$D && ls",
    'D=false; D=true; ! "$D" || ls',
    'D=:\nif ls; then D="false"; fi\n${D} && ls',
]
DYNAMIC = [
    "D=$1\nif $D; then :; fi",
    "D=false; D=$X; $D",
    "read D; D=true; $D",
]


def test_switch_is_no_dynamic_code() -> None:
    assert [script for script in SWITCHES if codes(script, "dynamic_code")] == []
    assert [script for script in DYNAMIC if not codes(script, "dynamic_code")] == []


MASKED = [
    "helm upgrade x y --set auth.password=Tr0ub4dor-3x",
    "snmpwalk -v2c -c s3cr3tComm 10.0.0.1",
    "ipmitool -H h -U admin -P Tr0ub4dor3x power status",
    "nmcli dev wifi connect x password Tr0ub4dor3x",
    "smbclient //h/s -U joe%Tr0ub4dor3x",
    "sqlcmd -S h -U sa -P 'Tr0ub4dor3x!'",
    "keytool -list -storepass Tr0ub4dor3x -keystore k",
    "mosquitto_pub -h h -u u -P Tr0ub4dor3x -t t -m m",
    "echo 'root:Tr0ub4dor3x' | chpasswd",
    "7z a -pTr0ub4dor3x x.7z f",
    "xfreerdp /u:joe /p:Tr0ub4dor3x /v:h",
    "rabbitmqctl add_user joe Tr0ub4dor3x",
]
NO_SECRETS = [
    "helm upgrade x y --set image.tag=1.2.3",
    'snmpwalk -v2c -c "$COMMUNITY" h',
    'ipmitool -H h -P "$PASSWORD" power',
    "ssh -p 2222 h",
]


def test_what_is_masked_is_a_finding() -> None:
    for script in (*MASKED, *NO_SECRETS):
        assert bool(mask_secrets(script).secrets) == (script in MASKED), script
        assert codes(script, "secrets") == ["warning"] * (script in MASKED), script
