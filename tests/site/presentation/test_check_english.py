"""Tests that the English check of `make check` reads each kind of text and respects the allowed lines."""

from __future__ import annotations

from tests.check_english import faults

PYTHON = '''\
"""A module that nobody reads."""

from django.utils.translation import gettext as _

CAMPAIGN = _("Open the campaign. "  # The owner said so.
    "Its behaviour is unknown to %(said)s.") or "told"


def told(campaign: str | None) -> None:
    """Return `told`, which is None. There
    is none, and no campaign.
    """
'''
PAGE = """\
{% comment %}whoever, desk{% endcomment %}
<a class="told" title="{% translate "Somebody" %}" href="{% url "told" %}">The <b>desk</b></a>
<script src="told.js">told</script>
"""
MARKDOWN = """\
It stands for `whoever` mends it and was
taken up by [a link](told.md).
At 5 % (50%) it stands
out.

```
told
```
"""


def test_planted_words_are_found_in_each_kind_of_text_unless_allowed() -> None:
    allowed = [
        {"file": "docs/*.md", "text": "taken up", "reason": "A test of the check."},
        {"file": "docs/*.md", "text": "once more", "reason": "No line needs it."},
    ]

    lines = faults({"a/b.py": PYTHON, "c.html": PAGE, "docs/d.md": MARKDOWN}, allowed)

    found = [(line.partition(": ")[0], line.split("'")[-2]) for line in lines]
    assert sorted(found) == [
        ("a/b.py:1", "nobody"),
        ("a/b.py:10", "There is none"),
        ("a/b.py:5", "campaign"),
        ("a/b.py:5", "said"),
        ("a/b.py:6", "behaviour"),
        ("c.html:1", "whoever"),
        ("c.html:2", "Somebody"),
        ("c.html:2", "desk"),
        ("docs/d.md:1", "mends"),
        ("docs/d.md:3", "5 %"),
        ("docs/d.md:3", "stands"),
        ("styles/allowed.yml", "No line needs it."),
    ]
