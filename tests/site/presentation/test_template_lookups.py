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


_COMMENT = re.compile(r"{% comment %}.*?{% endcomment %}", re.DOTALL)
_BLOCK = re.compile(r"{% block ([\w-]+) %}(.*?){% endblock(?: [\w-]+)? %}", re.DOTALL)
_SET = re.compile(r"\bas(?:var)? (\w+)(?: [\w =]*)? ?%}")
_TEXT = re.compile(r'"[^"]*"')
_ASKED = re.compile(r"(?<!%)[ =](\w+)\b(?!=)(?=[^%]*%})|{{ ?(\w+)")


def test_no_block_asks_for_a_name_that_only_another_block_sets() -> None:
    """It is empty there: a link without its address is a button, and *Cancel* sent the form."""
    found = []
    for file in sorted((settings.BASE_DIR / "templates").rglob("*.html")):
        text = _COMMENT.sub("", file.read_text())
        if "{% extends" not in text:
            continue
        blocks = dict(_BLOCK.findall(_TEXT.sub('""', text)))
        assert blocks, f"no block was found in {file.name}"
        for name, block in blocks.items():
            asked = {one or other for one, other in _ASKED.findall(block)}
            elsewhere = {
                one for other in blocks if other != name for one in _SET.findall(blocks[other])
            }
            if missing := (asked & elsewhere) - set(_SET.findall(block)):
                found.append(f"{file.name}, block {name}: {sorted(missing)}")
    assert not found, f"set it in the block itself: {found}"
