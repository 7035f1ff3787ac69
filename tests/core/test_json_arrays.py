"""Tests that reading a JSON array in chunks returns the same elements as parsing it all at once."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.files import json_arrays

OBJECTS = st.dictionaries(st.text(max_size=5), st.text(max_size=20) | st.integers(), max_size=4)


@given(elements=st.lists(OBJECTS, max_size=8), part=st.integers(1, 40), is_wrapped=st.booleans())
def test_array_read_in_small_parts_gives_all_elements(
    elements: list[dict[str, str | int]], part: int, is_wrapped: bool
) -> None:
    document = {"count": len(elements), "items": elements} if is_wrapped else elements
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_arrays, "_PART", part)
        records = list(json_arrays.read_json_array(io.BytesIO(json.dumps(document).encode())))
    assert [record.values for record in records] == elements
    assert [record.line for record in records] == list(range(1, len(elements) + 1))
