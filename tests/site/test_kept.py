"""Components that are kept: the same for the same words, and for no others."""

from __future__ import annotations

import pytest
from django.template import Context, Template
from django.test import override_settings
from django.utils import translation
from django.utils.safestring import SafeString

_TEMPLATE = "{% load kept %}{% kept %}<b>{{ label }}</b>{{ count.next }}{% endkept %}"


class Counter:
    """Tells how often it was asked."""

    asked = 0

    @property
    def next(self) -> int:
        self.asked += 1
        return self.asked


def _render(template: Template, **words: object) -> str:
    return template.render(Context(words))


def test_a_text_that_is_safe_is_not_taken_for_one_that_is_not() -> None:
    template = Template(_TEMPLATE)
    assert _render(template, label="<i>") == "<b>&lt;i&gt;</b>"
    assert _render(template, label=SafeString("<i>")) == "<b><i></b>"
    assert _render(template, label="<i>") == "<b>&lt;i&gt;</b>"


def test_one_is_not_taken_for_true() -> None:
    template = Template(_TEMPLATE)
    assert _render(template, label=1) == "<b>1</b>"
    assert _render(template, label=True) == "<b>True</b>"


def test_with_more_than_plain_words_nothing_is_kept() -> None:
    template, count = Template(_TEMPLATE), Counter()
    assert _render(template, label="a", count=count) == "<b>a</b>1"
    assert _render(template, label="a", count=count) == "<b>a</b>2"


@override_settings(USE_I18N=True)
def test_each_language_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    # As it is once there are translations; which way it is was settled when the first text was shown.
    monkeypatch.setattr(translation, "_trans", type(translation._trans)())  # type: ignore[attr-defined]
    template = Template("{% load i18n kept %}{% kept %}{% translate 'Yes' %}{% endkept %}")
    with translation.override("en"):
        assert template.render(Context()) == "Yes"
    with translation.override("de"):
        assert template.render(Context()) == "Ja"


def test_steps_with_other_states_are_others() -> None:
    template = Template(
        "{% load kept %}{% kept %}{% for one in steps %}{{ one.state }},{% endfor %}{% endkept %}"
    )
    for states in (["done", "current"], ["current", ""], ["done", "current"]):
        steps = [{"label": "Script", "state": state} for state in states]
        assert _render(template, steps=steps) == "".join(f"{state}," for state in states)


def test_the_token_of_a_request_is_no_part_of_it() -> None:
    template = Template(_TEMPLATE)
    _render(template, label="a", csrf_token="first")
    (node,) = [one for one in template.nodelist if hasattr(one, "_made")]
    _render(template, label="a", csrf_token="second")
    assert len(node._made) == 1
