"""Which values of parameters are refused before anybody copies the script."""

from __future__ import annotations

from catalog.analysis import dangerous_values

DELETES = ': "${DIR:?}"\nrm -rf "$DIR"\n'
CLEANS = ': "${DIR:?}"\n: "${DAYS:=30}"\nfind "$DIR" -mtime "+$DAYS" -delete\n'
CHAIN = 'BASE=$1\nCACHE="$BASE/cache"\nTARGET=$CACHE/*\nrm -rf $TARGET\n'
CHANGES_FOLDER = 'cd "${DIR:?}" && rm -rf ./*\n'
PIPES = ': "${DIR:?}"\nfind "$DIR" -name core -print0 | xargs -0 rm -f\n'
NAMES = ': "${POD:?}"\nkubectl delete pod "$POD"\n'
READS = ': "${DIR:?}"\ndu -sh "$DIR"\n'


DANGEROUS: list[tuple[str, dict[str, str]]] = [
    *((DELETES, {"DIR": value}) for value in ("/", "//", "/*", "/.", ".", "..", "", " ", "./", "~", "~/", "*",
     "/tmp/..")),
    (DELETES, {"DIR": "/etc"}),
    (DELETES, {}),
    (CLEANS, {"DIR": "/", "DAYS": "7"}),
    (CLEANS, {"DIR": "/srv", "DAYS": ""}),
    (CHAIN, {"BASE": ""}),
    (CHANGES_FOLDER, {"DIR": "/"}),
    (PIPES, {"DIR": "/"}),
    (NAMES, {"POD": ""}),
]  # fmt: skip


def test_a_value_that_deletes_too_much_is_named() -> None:
    assert [row for row in DANGEROUS if not dangerous_values(*row)] == []


HARMLESS: list[tuple[str, dict[str, str]]] = [
    (DELETES, {"DIR": "/srv/app/cache"}),
    (DELETES, {"DIR": "/tmp/x/../y"}),
    (CLEANS, {"DIR": "/home"}),
    (CHAIN, {"BASE": "/srv/app"}),
    (CHANGES_FOLDER, {"DIR": "/srv/app"}),
    (NAMES, {"POD": "web-1"}),
    (READS, {"DIR": "/"}),
    (READS, {"DIR": ""}),
]


def test_other_values_are_not() -> None:
    assert [row for row in HARMLESS if dangerous_values(*row)] == []


def test_the_reason_names_parameter_line_and_effect() -> None:
    assert dangerous_values(DELETES, {"DIR": "/"}) == [
        'DIR is "/": line 2 would delete everything in the whole system (/).'
    ]
    assert dangerous_values(CHAIN, {"BASE": ""}) == [
        "BASE is empty, and line 4 deletes or overwrites what it names."
    ]
