"""No template asks a mapping whose keys are data for its `items`: that finds the value under the key "items"."""

from __future__ import annotations

import re

import pytest
from django.conf import settings
from django.template import Context, Template

# Of objects with such an attribute and of no mapping.
ATTRIBUTES = {"line.values"}
LOOP = re.compile(r"\bin +([\w.]+\.(?:items|keys|values))\b(?! *\()")


def test_loops_take_pairs_by_the_filter() -> None:
    found = [
        f"{file.relative_to(settings.BASE_DIR)}: {name}"
        for file in sorted((settings.BASE_DIR / "templates").rglob("*.html"))
        for name in LOOP.findall(file.read_text())
        if name not in ATTRIBUTES
    ]
    assert not found, f"write `in mapping|pairs` instead: {found}"


@pytest.mark.parametrize("key", ["items", "keys", "values", "plain", 7])
def test_pairs_are_those_of_the_mapping(key: object) -> None:
    loop = Template("{% for key, value in mapping|pairs %}{{ key }}={{ value }};{% endfor %}")
    assert loop.render(Context({"mapping": {key: 1, "other": 2}})) == f"{key}=1;other=2;"
    assert loop.render(Context({"mapping": None})) == ""
