"""Which values of parameters are refused before anybody copies the script."""

from __future__ import annotations

import pytest

from catalog.analysis import dangerous_values

DELETES = ': "${DIR:?}"\nrm -rf "$DIR"\n'
CLEANS = ': "${DIR:?}"\n: "${DAYS:=30}"\nfind "$DIR" -mtime "+$DAYS" -delete\n'
CHAIN = 'BASE=$1\nCACHE="$BASE/cache"\nTARGET=$CACHE/*\nrm -rf $TARGET\n'
CHANGES_FOLDER = 'cd "${DIR:?}" && rm -rf ./*\n'
PIPES = ': "${DIR:?}"\nfind "$DIR" -name core -print0 | xargs -0 rm -f\n'
NAMES = ': "${POD:?}"\nkubectl delete pod "$POD"\n'
READS = ': "${DIR:?}"\ndu -sh "$DIR"\n'


@pytest.mark.parametrize(
    ("script", "values"),
    [
        *(
            pytest.param(DELETES, {"DIR": value}, id=f"rm of {value or 'nothing'}")
            for value in (
                "",
                " ",
                "/",
                "//",
                "/*",
                "/.",
                ".",
                "..",
                "./",
                "~",
                "~/",
                "*",
                "/tmp/..",
            )
        ),
        pytest.param(DELETES, {"DIR": "/etc"}, id="rm of a folder of the system"),
        pytest.param(DELETES, {}, id="not given at all"),
        pytest.param(CLEANS, {"DIR": "/", "DAYS": "7"}, id="find from the root"),
        pytest.param(CLEANS, {"DIR": "/srv", "DAYS": ""}, id="an empty number"),
        pytest.param(CHAIN, {"BASE": ""}, id="through other variables"),
        pytest.param(CHANGES_FOLDER, {"DIR": "/"}, id="through cd"),
        pytest.param(PIPES, {"DIR": "/"}, id="through a pipe"),
        pytest.param(NAMES, {"POD": ""}, id="an empty name"),
    ],
)
def test_a_value_that_deletes_too_much_is_named(script: str, values: dict[str, str]) -> None:
    assert dangerous_values(script, values)


@pytest.mark.parametrize(
    ("script", "values"),
    [
        pytest.param(DELETES, {"DIR": "/srv/app/cache"}, id="an ordinary folder"),
        pytest.param(DELETES, {"DIR": "/tmp/x/../y"}, id="a detour"),
        pytest.param(CLEANS, {"DIR": "/home"}, id="find in a folder of the system"),
        pytest.param(CHAIN, {"BASE": "/srv/app"}, id="through other variables"),
        pytest.param(CHANGES_FOLDER, {"DIR": "/srv/app"}, id="through cd"),
        pytest.param(NAMES, {"POD": "web-1"}, id="a name"),
        pytest.param(READS, {"DIR": "/"}, id="the root for a command that reads"),
        pytest.param(READS, {"DIR": ""}, id="nothing for a command that reads"),
    ],
)
def test_other_values_are_not(script: str, values: dict[str, str]) -> None:
    assert dangerous_values(script, values) == []


def test_the_reason_names_parameter_line_and_effect() -> None:
    assert dangerous_values(DELETES, {"DIR": "/"}) == [
        'DIR is "/": line 2 would delete everything in the whole system (/).'
    ]
    assert dangerous_values(CHAIN, {"BASE": ""}) == [
        "BASE is empty, and line 4 deletes or overwrites what it names."
    ]
