"""The filter `pairs` loops over a mapping with any keys: `mapping.items` finds the value under the key "items"."""

from __future__ import annotations

import pytest
from django.template import Context, Template


@pytest.mark.parametrize("key", ["items", "plain", 7])
def test_pairs_are_those_of_the_mapping(key: object) -> None:
    loop = Template("{% for key, value in mapping|pairs %}{{ key }}={{ value }};{% endfor %}")
    assert loop.render(Context({"mapping": {key: 1, "other": 2}})) == f"{key}=1;other=2;"
    assert loop.render(Context({"mapping": None})) == ""
