"""Components that are kept: the same for the same words, and for no others."""

from __future__ import annotations

import pytest
from django.template import Context, Template
from django.test import override_settings
from django.utils import translation
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

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


def test_what_stands_around_is_filled_in_and_kept_apart() -> None:
    template = Template(
        "{% load kept %}{% kept around pk title %}{{ title }} is {{ pk }}, {{ word }}{% endkept %}"
    )
    assert _render(template, pk=1, title="<i>", word="one") == "&lt;i&gt; is 1, one"
    assert _render(template, pk=2, title=SafeString("<i>"), word="one") == "<i> is 2, one"
    assert _render(template, pk=2, title="", word="two") == " is 2, two"
    (node,) = [one for one in template.nodelist if hasattr(one, "_made")]
    assert len(node._made) == 2, "one for each word, whatever stands around"


def test_what_stands_around_may_have_any_name() -> None:
    template = Template(
        "{% load kept %}{% kept around context self %}{{ context }}{{ self }}{% endkept %}"
    )
    assert _render(template, context="a") == "a"
    assert template.render(Context({"context": "b", "self": 3})) == "b3"


def test_a_text_that_is_yet_to_be_translated_is_a_text() -> None:
    template = Template(_TEMPLATE)
    (node,) = [one for one in template.nodelist if hasattr(one, "_made")]
    assert _render(template, label=gettext_lazy("Yes")) == "<b>Yes</b>"
    assert _render(template, label=gettext_lazy("No")) == "<b>No</b>"
    assert _render(template, label=gettext_lazy("Yes")) == "<b>Yes</b>"
    assert len(node._made) == 2
