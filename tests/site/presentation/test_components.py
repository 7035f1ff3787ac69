"""Tests that component tags escape and translate text, and that cached components never show another user's data."""

from __future__ import annotations

import pytest
from django.template import Context, Template, TemplateSyntaxError
from django.test import override_settings
from django.utils import translation
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from core.web.public_keys import PublicKey
from scriptsmith_site.templatetags import components


@pytest.fixture(autouse=True)
def _nothing_cached() -> None:
    for draw in (
        components._draw_once,
        components._draw_icon,
        components._draw_badge,
        components._draw_button,
    ):
        draw.cache_clear()


def render(template: str, **words: object) -> str:
    return Template(template).render(Context(words))


MARKUP = {
    '{% badge "new" %}': '<span class="badge">new</span>',
    '{% badge "late" tone="ember" title="by a day" %}':
        '<span class="badge badge-ember" title="by a day">late</span>',
    '{% button "Go" %}': '<button class="button" type="submit">Go</button>',
    '{% button "Go" href="/there/" kind="quiet" small=True %}':
        '<a class="button button-quiet button-small" href="/there/">Go</a>',
    '{% button "No" name="how" value=0 disabled=True title="Not yet" %}':
        '<button class="button" type="submit" name="how" value="0" disabled title="Not yet">No</button>',
    '{% button "Open" dialog="why" kind="danger" %}':
        '<button class="button button-danger" type="button" data-dialog="why" command="show-modal"'
        ' commandfor="why">Open</button>',
    '{% button "Send" key="mod+enter" %}':
        '<button class="button" type="submit" data-key="mod+enter" aria-keyshortcuts="Control+Enter">Send'
        '<kbd class="key" data-mod aria-hidden="true">Ctrl ↵</kbd></button>',
    '{% button "Close" icon_only=True key="x" %}':
        '<button class="button button-icon" type="submit" title="Close" data-key="x" aria-keyshortcuts="x">'
        '<span class="visually-hidden">Close</span></button>',
}  # fmt: skip


def test_markup_of_components_and_icons() -> None:
    assert {tag: render(tag) for tag in MARKUP} == MARKUP
    html = render('{% button "Copy" icon="copy" %}')
    assert html.startswith('<button class="button" type="submit"><svg class="icon" ')
    assert html.endswith("</svg>Copy</button>")
    assert 'aria-label="Done"' in render('{% icon "check" label="Done" %}')
    assert 'aria-hidden="true"' in render('{% icon "check" %}')


def test_labels_are_escaped_by_type_and_value() -> None:
    for tag in ("{% badge label %}", "{% button label %}"):
        for _again in range(2):
            assert "&lt;i&gt;" in render(tag, label="<i>")
            assert "<i>" in render(tag, label=SafeString("<i>"))
    assert render("{% badge label %}", label=1) == '<span class="badge">1</span>'
    assert render("{% badge label %}", label=True) == '<span class="badge">True</span>'


def test_what_is_handed_over_can_not_leave_its_attribute() -> None:
    hostile = '"><script>'
    tag = (
        "{% button label href=words name=words title=words key=words %}{% badge label tone=words %}"
    )
    html = render(tag, label="a", words=hostile) + render(
        "{% icon words label=words %}", words=hostile
    )
    assert "<script>" not in html


@override_settings(USE_I18N=True)
def test_each_language_has_its_own_text(monkeypatch: pytest.MonkeyPatch) -> None:
    # Simulate existing translations. Django decides whether to translate when it shows the first text.
    monkeypatch.setattr(translation, "_trans", type(translation._trans)())
    for tag in (
        "{% badge _('Yes') %}",
        "{% button label %}",
        "{% state_badge 'done' label=label %}",
        "{% notice %}{{ label }}{% endnotice %}",
    ):
        template = Template(tag)
        for language, word in (("en", "Yes"), ("de", "Ja"), ("en", "Yes")):
            with translation.override(language):
                assert word in template.render(Context({"label": gettext_lazy("Yes")})), tag


def test_what_stands_in_a_notice_is_escaped_once() -> None:
    html = render(
        '{% notice "warning" title=title %}\n  {{ text }} <b>!</b>\n{% endnotice %}',
        title="<t>",
        text="a < b",
    )
    assert "<strong>&lt;t&gt;</strong> a &lt; b <b>!</b> </div>" in " ".join(html.split())
    assert "notice-warning" in html


def test_an_empty_state_leaves_out_what_it_is_not_given() -> None:
    html = render('{% empty_state "Nothing" %}{% endempty_state %}')
    assert "<h2>Nothing</h2>" in html
    assert "<p>" not in html and "<a " not in html
    html = render(
        '{% empty_state "Nothing" url="/new/" action="Begin" %}So begin.{% endempty_state %}'
    )
    assert "<p>So begin.</p>" in html
    assert '<a class="button" href="/new/">Begin</a>' in html


def test_unknown_or_missing_argument_is_refused() -> None:
    for tag in ("{% badge %}", "{% button 'a' colour='red' %}"):
        with pytest.raises((TypeError, TemplateSyntaxError), match="label|colour"):
            render(tag)


def test_steps_with_other_states_are_others() -> None:
    for states in (["done", "current"], ["current", ""], ["done", "current"]):
        steps = [{"label": "Script", "state": state} for state in states]
        html = render("{% steps steps label='Stages' %}", steps=steps)
        assert html.count('aria-current="step"') == states.count("current")
        assert html.count('class="done"') == states.count("done")


def test_a_picker_has_the_keys_that_it_is_given() -> None:
    for keys in (
        {"score_0": "0", "score_1": "1", "score_2": "2"},
        {"score_0": "a", "score_1": "b", "score_2": "c"},
        None,
    ):
        html = render("{% score_picker 'value' legend='Right?' keys=keys value=1 %}", keys=keys)
        for key in (keys or {}).values():
            assert f'data-key="{key}"' in html
        assert ("data-key" in html) is (keys is not None)
        assert html.count(" checked") == 1


def test_what_is_drawn_once_has_each_item_its_own_address_and_each_person_their_token() -> None:
    file = "review/desk/_other_actions.html"
    template = '{% draw_once "FILE" "keys may_reveal" %}'.replace("FILE", file)
    keys = {"skip": "x", "undo": "u"}
    first = render(template, item_key=PublicKey(11), keys=keys, csrf_token="one & one")
    second = render(template, item_key=PublicKey(12), keys=keys, csrf_token="two")
    assert 'action="/items/11/undo/"' in first and 'value="one &amp; one"' in first
    assert first.replace("/11/", "/12/").replace("one &amp; one", "two") == second
    assert components._draw_once.cache_info().misses == 1


def test_what_is_drawn_once_sees_nothing_but_what_is_named() -> None:
    template = '{% draw_once "review/desk/_stage_form.html" "stage" "comment" %}'
    given = {"item_key": PublicKey(11), "stage": "script", "view": "diff", "fence": 7}
    drawn = render(template, **given, comment="<b>")
    assert 'name="stage" value="script"' in drawn and ">&lt;b&gt;</textarea>" in drawn
    assert 'name="view" value=""' in drawn and 'name="fence" value=""' in drawn
