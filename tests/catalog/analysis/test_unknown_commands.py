"""Tests that unknown commands are listed once and that curators' rules for tools are applied."""

from __future__ import annotations

import pytest

from catalog.analysis import Finding, Risk, SideEffect, ToolEffect, analyse_static, checkers

READS, CHANGES, DESTROYS, UNKNOWN = ToolEffect
RULES = {
    "deployctl": READS,
    "deployctl rollback": DESTROYS,
    "deployctl scale": CHANGES,
    "pager": UNKNOWN,
    "rm": READS,
    "kubectl frob": READS,
    "/opt/acme/lister": READS,
}


def listed(script: str, tools: dict[str, ToolEffect] | None = None) -> list[Finding]:
    found = analyse_static(script, tools or {}).unscored
    return [one for one in found if one.code in ("unknown_command", "sourced_file")]


# Each row has a script and its messages. "No rule knows" and "Check what it does." are left out.
UNKNOWN_NAMES = [
    ("frob create /srv\n\nls\nfrob prune --list\n", ["frob (2 uses, lines 1 and 4)"]),
    ("restic stats\nrestic frob x\n", ["this use of restic frob (line 2)"]),
    ("frob osd purge 1; frob status\n", ["frob (2 uses, line 1)"]),
    ("qq destroy 100\nfrob job stop x\n", ["qq (line 1)", "frob (line 2)"]),
    ("sudo frob format /dev/nvme0; retry 3 ls\n", ["frob (line 1)"]),
    ("x=$(frob)\n", ["frob (line 1)"]),
    ("find . -name a -exec frob {} +\n", ["frob (line 1)"]),
    ("ssh host 'frob; ls'\n", ["frob (line 1)"]),
    ("bash <<'EOF'\nls\nfrob\nEOF\n", ["frob (line 3)"]),
    ("f() {\n  frob\n}\nf\nf a\nf b\n", ["frob (line 2)"]),
    ("kubectl frob pod x\n", ["this use of kubectl frob (line 1)"]),
    ("find . -frob\n", ["this use of find (line 1)"]),
    ("frob\n" * 7, ["frob (7 uses, lines 1, 2, 3, 4, 5 and 2 more)"]),
    ("frob $(rm -rf /srv)\n", ["frob (line 1)"]),
    ("LD_PRELOAD=x.so ls\n", ["this use of ls (line 1)"]),
    # The message does not include the argument, because it may be a password.
    ("frob --password hunter2\n", ["frob (line 1)"]),
    # Functions, builtins, keywords, and commands that a rule or another finding already covers.
    ("f() { :; }\nif f; then hash -r; fi\nfor x in a; do [[ $x ]]; time ls; done\n", []),
    ("rm -rf /srv; mkfs.ext4 /dev/sda; terraform destroy; kubectl delete ns x\n", []),
    ("kubectl --version; git --help; kubectl krew list; lslogins\n", []),
    ("$TOOL run\n", []),
    ('psql -c "DROP TABLE users"\n', []),
]


def test_unknown_commands_are_listed_once_with_count_and_lines() -> None:
    wrong = []
    for script, expected in UNKNOWN_NAMES:
        wanted = [f"No rule knows {one}. Check what it does." for one in expected]
        if (found := [one.message for one in listed(script)]) != wanted:
            wrong.append((script, found))
    assert not wrong


SOURCED_FILES = [
    (". lib/utils.sh\nlog a\ndie b\n", ["Review that file as well. It may define: log, die."]),
    ("source ./lib.sh\nls\n", ["Sources ./lib.sh, which is not part of the script."]),
    (". a.sh\n. b.sh\nlog a\n", ["It or another sourced file may define: log.", "Sources b.sh"]),
    # A path and a known tool are not functions of a sourced file, and files of variables define none.
    (". a.sh\n./b.sh\nkubectl frob\n", ["Sources a.sh", "kubectl frob"]),
    (". /etc/os-release\nfrob\n", ["Sources /etc/os-release", "frob"]),
    ('. .env\n. "/etc/default/app"\nfrob\n', ["Sources .env", "Sources /etc/default/app", "frob"]),
]


def test_names_of_sourced_files_are_listed_under_the_file() -> None:
    wrong = []
    for script, expected in SOURCED_FILES:
        found = [one.message for one in listed(script)]
        if len(found) != len(expected) or not all(map(str.__contains__, found, expected)):
            wrong.append((script, found))
    assert not wrong


def test_many_unknown_names_are_cut_off_and_counted() -> None:
    found = listed("".join(f"frob{number}\n" for number in range(80)))
    assert len(found) == 51
    assert found[-1].message.startswith("No rule knows 30 more commands: frob50, frob51")


# Each row has a script, its side effect, its risk, and whether its command is listed as unknown.
TOOL_RULES = [
    ("deployctl status\n", SideEffect.READ_ONLY, Risk.LOW, False),
    ("deployctl\n", SideEffect.READ_ONLY, Risk.LOW, False),
    ("sudo -n deployctl status\n", SideEffect.READ_ONLY, Risk.LOW, False),
    ("deployctl rollback shop\n", SideEffect.MUTATING, Risk.HIGH, False),
    ("deployctl --env prod rollback shop\n", SideEffect.MUTATING, Risk.HIGH, False),
    ("/opt/x/deployctl rollback\n", SideEffect.MUTATING, Risk.HIGH, False),
    ("deployctl scale 3\n", SideEffect.MUTATING, Risk.MEDIUM, False),
    # The subcommand is not known before the script runs.
    ('deployctl "$1"\n', SideEffect.UNKNOWN, Risk.MEDIUM, True),
    ("cat f | xargs deployctl\n", SideEffect.UNKNOWN, Risk.MEDIUM, True),
    # These run a different program with the same name, or change the environment.
    ("/tmp/deployctl status\n", SideEffect.UNKNOWN, Risk.MEDIUM, False),
    ("LD_PRELOAD=x deployctl status\n", SideEffect.UNKNOWN, Risk.MEDIUM, True),
    ("/opt/acme/lister\n", SideEffect.READ_ONLY, Risk.LOW, False),
    ("pager\n", SideEffect.UNKNOWN, Risk.MEDIUM, True),
    ("kubectl frob\n", SideEffect.READ_ONLY, Risk.LOW, False),
    # A curator's rule cannot override a built-in rule.
    ("rm -rf /srv\n", SideEffect.MUTATING, Risk.HIGH, False),
    ("rm x\n", SideEffect.MUTATING, Risk.MEDIUM, False),
    # The script's own function with this name is analyzed instead.
    ("deployctl() { ls; }\ndeployctl rollback\n", SideEffect.READ_ONLY, Risk.LOW, False),
]


@pytest.mark.parametrize(("script", "side_effect", "risk", "is_listed"), TOOL_RULES)
def test_tool_rule_decides_what_no_built_in_rule_knows(
    script: str, side_effect: SideEffect, risk: Risk, is_listed: bool
) -> None:
    report = analyse_static(script, RULES)
    if "sudo" in script:  # root privileges alone are a medium risk
        risk = report.risk
    assert (report.side_effect, report.risk, bool(listed(script, RULES))) == (
        side_effect,
        risk,
        is_listed,
    ), report.findings


def test_changed_tool_rules_change_the_versions() -> None:
    texts = {
        checkers(),
        checkers(RULES),
        checkers({"deployctl": DESTROYS}),
        checkers({"deployctl": CHANGES}),
    }
    assert len(texts) == 4
    assert checkers({"a": READS, "b": CHANGES}) == checkers({"b": CHANGES, "a": READS})
    versions = [analyse_static("ls\n", tools).versions["risk"] for tools in ({}, RULES)]
    assert versions[0] != versions[1]
    assert versions[1] in checkers(RULES)
