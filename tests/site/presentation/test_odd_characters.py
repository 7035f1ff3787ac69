"""Tests that hidden and look-alike characters are marked on every page where users make decisions about text."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from review import services
from scriptsmith_site.templatetags.show import model_text, with_code
from tests.catalog.shelf import shelve
from tests.keys import shown
from tests.make import make_run
from tests.site.browsing import ClientFor

pytestmark = pytest.mark.django_db

HOSTILE = "Show p\u0430ypal \u202egnihtemos\u202c of a\u200bb <b>&amp;"
CODES = ("U+0430", "U+202E", "U+202C", "U+200B")


def marks(page: str) -> set[str]:
    return {code for code in CODES if f'<mark class="odd" data-code="{code}"' in page}


def test_marks_on_review_page(reviewer: User, curator: User, client_for: ClientFor) -> None:
    run = make_run(statement=HOSTILE)
    run.action.incident = "Ask \u2066root\u2069"
    run.action.save(update_fields=["incident"])
    item = services.take_in(run.pk)

    for person, address in ((reviewer, f"/items/{shown(item)}/"), (curator, f"/runs/{run.pk}/")):
        page = client_for(person).get(address).text
        heading = page.split("<h1")[1].split("</h1>")[0]
        assert marks(heading) == set(CODES), address
        assert "&lt;b&gt;&amp;amp;" in heading and "<b>" not in heading
        assert 'data-code="U+2066"' in page, address


def test_on_the_entry_and_its_phrasings(curator: User, client_for: ClientFor) -> None:
    entry = shelve(HOSTILE.replace("\u200b", ""), phrasings=["Show the l\u043egs"]).entry

    page = client_for(curator).get(f"/catalogue/{entry.slug}/").text

    assert marks(page.split("<h1")[1].split("</h1>")[0]) == set(CODES[:3])
    assert 'l<mark class="odd" data-code="U+043E"' in page


def test_text_in_backquotes_is_shown_as_code() -> None:
    table = {
        "removes `/srv/a`, `b`": "removes <code>/srv/a</code>, <code>b</code>",
        "`<b>` & more": "<code>&lt;b&gt;</code> &amp; more",
        "one ` of its own": "one ` of its own",
        "none": "none",
    }
    assert {text: with_code(text) for text in table} == table
    assert "U+202E" in with_code("prints `\u202e`")


def test_text_of_a_model_is_formatted_after_it_was_escaped() -> None:
    table = {
        "- uses `-r`\n- <b>two</b>": "<ul><li>uses <code>-r</code></li><li>&lt;b&gt;two&lt;/b&gt;</li></ul>",
        "It does:\n* `<script>`\nEnd": "It does:<ul><li><code>&lt;script&gt;</code></li></ul>End",
        "-mtime +30\n* * * * * x": "-mtime +30\n* * * * * x",
        "[a](javascript:x) ![b](y) <img>": "[a](javascript:x) ![b](y) &lt;img&gt;",
        "": "",
    }
    assert {text: model_text(text) for text in table} == table
    assert "U+202E" in model_text("- prints `\u202e`")
