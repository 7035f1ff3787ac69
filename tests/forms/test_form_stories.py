"""Submit every POST form once, as its user would, from the rendered page.

A test fails if a template with such a form has no story. To add a story, put a `Story` into the table for its part of
the product in this folder, under its template and role. A story defines how to open the page, the address of the form,
the fields to fill in, the button to press, and the expected result.
"""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from django.conf import settings

from tests.forms.alert_stories import ALERTS
from tests.forms.campaign_stories import CAMPAIGNS
from tests.forms.catalogue_stories import CATALOGUE
from tests.forms.chat_command_stories import CHAT_COMMANDS
from tests.forms.entry_stories import ENTRIES
from tests.forms.integration_stories import INTEGRATIONS
from tests.forms.mirror_stories import MIRROR
from tests.forms.outbox_stories import OUTBOX
from tests.forms.people_stories import PEOPLE
from tests.forms.pipeline_stories import PIPELINE
from tests.forms.review_stories import REVIEW
from tests.forms.sign_in_stories import SIGN_IN
from tests.forms.story import Story, World, check_forms, check_links, open_page, send, told

STORIES = told(
    PEOPLE,
    ENTRIES,
    CATALOGUE,
    PIPELINE,
    REVIEW,
    CAMPAIGNS,
    MIRROR,
    OUTBOX,
    ALERTS,
    CHAT_COMMANDS,
    INTEGRATIONS,
    SIGN_IN,
)
TEMPLATES = settings.BASE_DIR / "templates"
_COMMENT = re.compile(r"{% comment %}.*?{% endcomment %}", re.DOTALL)
_FORM = re.compile(r"<form\b(?:{%.*?%}|{{.*?}}|[^>{])*>", re.DOTALL)
_POST = re.compile(r"""method=["']?post|hx-post""", re.IGNORECASE)


def forms_by_post() -> set[str]:
    """Return the templates that contain a form with the POST method."""
    found = set()
    for file in TEMPLATES.rglob("*.html"):
        text = _COMMENT.sub("", file.read_text())
        if any(_POST.search(tag) for tag in _FORM.findall(text)):
            found.add(str(file.relative_to(TEMPLATES)))
    return found


def words_of(html: str) -> str:
    """Return the text of the page, for error messages."""
    main = html.partition("<main")[2].partition("</main>")[0] or html
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", f"<{main}")).split())[:1500]


@pytest.fixture(autouse=True)
def _own_folder(settings: object, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    # No server listens at this provider's address.
    settings.SCRIPTSMITH_OIDC_ISSUER = "http://127.0.0.1:9"


_FIRST = {one.template: one for one in reversed(STORIES)}


@pytest.mark.django_db
@pytest.mark.parametrize(
    "story",
    [
        # `make test` runs only the first story of each template.
        pytest.param(
            one, id=one.id, marks=() if _FIRST[one.template] is one else pytest.mark.nightly
        )
        for one in STORIES
    ],
)
def test_a_form_does_what_it_says(story: Story) -> None:
    world = World(who=story.who)
    page = open_page(story, world)
    check_forms(page)
    check_links(story, world, page)
    answer = send(story, world, page)
    world.text = "" if answer.streaming else answer.text
    assert answer.status_code == story.status, words_of(world.text)
    assert story.check and story.check(world), words_of(world.text)


def test_templates_with_a_form_have_a_story_and_no_others_do() -> None:
    templates, with_story = forms_by_post(), {story.template for story in STORIES}
    assert not templates - with_story, (
        "no story uses the form of these templates: add one to the table of its part in tests/forms, "
        "see the docstring of this file"
    )
    assert not with_story - templates, "these templates have no form: remove their stories"


def test_every_form_by_post_is_written_with_its_token() -> None:
    missing = []
    for name in sorted(forms_by_post()):
        text = _COMMENT.sub("", (TEMPLATES / name).read_text())
        for part in re.split(r"(?=<form\b)", text)[1:]:
            tag = _FORM.match(part)
            inside = part.split("</form>")[0]
            if tag and _POST.search(tag[0]) and "{% csrf_token %}" not in inside:
                missing.append(f"{name}: {tag[0][:80]}")
    assert not missing, f"put {{% csrf_token %}} inside: {missing}"
