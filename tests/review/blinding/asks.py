"""Collect every request that a reviewer may send, from the URLconf and from the API's schema."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from django.urls import get_resolver, reverse

from core.web.public_keys import DRAFT, ITEM, public_key
from pipeline.models import Draft
from pipeline.types import AnswerStatus
from review.models import Item
from scriptsmith_site.api import api_schema
from tests.keys import seen_in
from tests.review.blinding.hidden_words import addresses
from tests.review.blinding.twins import Ask

# Signing out would end the walk. The other responses only describe the product.
_LEFT_OUT = re.compile(
    r"^/(admin/|login|logout|set-password|healthz|readyz|metrics|static/|_gallery|api/v1/(schema|docs))"
)
_ABOUT = re.compile(
    r"^/($|items/|runs/|actions/|drafts/|queue/|studies/|search/"
    r"|api/v1/(items|runs|actions|drafts|queue|scores|decisions)/)"
)
# Requests that reveal hidden parts. Another test covers them.
_OPENS = re.compile(r"/(score|reveal|decide|undo)/$")
# Lists are requested without a filter and filtered by verdict.
_NEAREST = ({}, {"verdict": "incorrect"}, {"verdict": "incorrect", "state": ""})
# Words from the secrets of both databases, which users may search for.
_WORDS = ("files", "-path", "incorrect", "imported")


def every_ask(item: Item, *, more: Iterable[Ask] = ()) -> list[Ask]:
    """Return a request for every page and operation, with the keys of this item and its run, action and drafts."""
    first, *others = item.run.drafts.order_by("number")
    asks = {str(one): one for one in (*_of_draft(item, first), *more)}
    for draft in others:
        asks |= {str(one): one for one in _of_draft(item, draft) if _names(one, item, draft)}
    return list(asks.values())


def asks_about(item: Item) -> list[Ask]:
    """Return the requests about items, runs, actions and drafts, and about the lists and counts that include them."""
    return [one for one in every_ask(item) if _ABOUT.match(one.path)]


def asks_of_the_rest(item: Item) -> list[Ask]:
    """Return all requests that `asks_about` does not return."""
    return [one for one in every_ask(item) if not _ABOUT.match(one.path)]


def addresses_about(item: Item) -> list[Ask]:
    """Return a GET request for each address in `asks_about`, plus the lists by verdict and each view of the item."""
    return [
        one
        for one in asks_about(item)
        if one.method == "GET" and not one.fragment and (not one.data or "verdict" in one.data)
    ]


def nearest_asks(item: Item) -> list[Ask]:
    """Return the requests from `addresses_about` that show or list this item, its run, action and scripts."""
    run, action, key = item.run_id, item.run.action_id, public_key(ITEM, item.pk)
    shown = (
        *(f"{api}/items/{key}/" for api in ("", "/api/v1")),
        *(f"{api}/runs/{run}/" for api in ("", "/api/v1")),
        *(f"/runs/{run}/{part}/" for part in ("status", "calls")),
        *(f"{api}/actions/{action}/" for api in ("", "/api/v1")),
        *(f"/items/{key}/execution/", f"/api/v1/items/{key}/evidence/"),
        *("/", "/actions/", "/queue/", "/studies/", f"/studies/{item.campaign_id}/"),
        *(f"/api/v1/{name}/" for name in ("actions", "drafts", "items", "queue", "runs", "scores")),
        "/api/v1/scores/pace/",
    )
    drafts = tuple(
        f"/api/v1/drafts/{public_key(DRAFT, draft.pk)}/" for draft in item.run.drafts.all()
    )
    return [
        one
        for one in addresses_about(item)
        if one.path in (*shown, *drafts) and one.data in _NEAREST
    ]


def _of_draft(item: Item, draft: Draft) -> Iterator[Ask]:
    yield from _pages(item, draft)
    yield from _operations(item, draft)
    yield from _on_this(item, draft)


def _names(ask: Ask, item: Item, draft: Draft) -> bool:
    names = (str(public_key(DRAFT, draft.pk)), str(seen_in(item, draft)))
    return any(name in str(ask) for name in names)


def _keys(item: Item, draft: Draft) -> dict[str, object]:
    return {
        "<item>": item.pk,
        "<stage>": "script",
        "<step>": "rules",
        "<slug>": "none",
        "<name>": "demo",
        "campaigns": item.campaign_id,
        "studies": item.campaign_id,
        "items": public_key(ITEM, item.pk),
        "runs": item.run_id,
        "actions": item.run.action_id,
        "drafts": public_key(DRAFT, draft.pk),
    }


def _pages(item: Item, draft: Draft) -> Iterator[Ask]:
    """Yield each address with GET, as a page and as a fragment, and with POST and invalid form values."""
    nonsense: dict[str, object] = {"why": "", "value": "9", "text": "", "reason": "", "kind": "x"}
    for address in sorted(addresses(_keys(item, draft), get_resolver().url_patterns)):
        if _LEFT_OUT.match(address):
            continue
        yield Ask("GET", address)
        if address.startswith("/api/"):
            continue
        yield Ask("POST", address, nonsense, fragment=True)


def _operations(item: Item, draft: Draft) -> Iterator[Ask]:
    """Yield each operation of the schema. Read operations are sent with each possible value of each parameter."""
    keys = _keys(item, draft)
    for path, methods in api_schema()["paths"].items():
        folder = next((name for name in keys if name in path.partition("{")[0]), "")
        filled = re.sub(r"\{\w+\}", str(keys.get(folder, 1)), path)
        if _LEFT_OUT.match(filled):
            continue
        for method, operation in methods.items():
            if method == "get":
                for name, value in _parameters(operation, item):
                    yield Ask("GET", filled, {name: value})
            elif not _OPENS.search(filled):
                yield Ask(
                    method.upper(), filled, {} if method != "post" else {"why": ""}, as_json=True
                )


def _parameters(operation: dict[str, object], item: Item) -> Iterator[tuple[str, object]]:
    declared: list[dict[str, object]] = operation.get("parameters", [])
    for one in declared:
        if one["in"] != "query":
            continue
        kind: dict[str, object] = one.get("schema", {})
        # An invalid cursor is rejected, so one value is enough.
        values: Iterable[object] = _WORDS[:1] if one["name"] == "cursor" else _WORDS
        if "enum" in kind:
            values = kind["enum"]
        elif kind.get("type") == "boolean":
            values = ("true", "false")
        elif kind.get("type") in ("integer", "number"):
            values = (1, 2, item.configuration_id, item.run_id, public_key(ITEM, item.pk))
        for value in values:
            yield str(one["name"]), value


def _on_this(item: Item, draft: Draft) -> Iterator[Ask]:
    """Yield the actions of a reviewer on the item's page, with valid values."""
    review, run, action = (
        reverse("item-review", args=[item.pk]),
        item.run_id,
        reverse("action-detail", args=[item.run.action_id]),
    )
    for query in (
        "?show=2&against=1",
        "?show=1&against=2&side=1",
        "?change=refined-model",
        "?waits=1",
    ):
        yield Ask("GET", review + query)
        yield Ask("GET", review + query, fragment=True)
    for word in (*_WORDS, f"run {run}", item.run.action.statement[:20]):
        yield Ask("GET", reverse("search"), {"q": word})
        yield Ask("GET", reverse("action-list"), {"q": word})
    for state in ("", "done", "running", "failed"):
        yield Ask("GET", reverse("action-list"), {"state": state})
    for verdict in ("correct", "incorrect", "unknown"):
        for state in ("", "done"):
            yield Ask("GET", reverse("action-list"), {"verdict": verdict, "state": state})
    for answer in AnswerStatus:
        yield Ask("GET", reverse("action-list"), {"answer": answer.value})
    for sort in ("oldest", "severe", "asker", "statement"):
        yield Ask("GET", reverse("action-list"), {"sort": sort})
    yield Ask("GET", reverse("action-list"), {"severity": item.run.action.severity, "q": "a"})
    yield Ask("GET", reverse("action-list"), {"changed": "true"})
    for risk in ("low", "medium", "high"):
        yield Ask("GET", reverse("queue"), {"risk": risk})
    for sort in ("risk", "oldest", "newest"):
        yield Ask("GET", reverse("queue"), {"sort": sort})
    yield Ask("GET", reverse("queue"), {"severity": item.run.action.severity})
    yield Ask("GET", reverse("home"), {"seen": "0"}, fragment=True)
    yield Ask("GET", f"{action}compare/?run={run}&run={run + 1}")
    yield Ask("GET", f"{action}compare/status/?run={run}&run={run + 1}", fragment=True)
    yield Ask("GET", reverse("run-status", args=[run]), fragment=True)
    name = seen_in(item, draft)
    for where, data in (
        ("claim", {}),
        ("open", {}),
        ("alive", {"fence": 1}),
        ("scratch", {"comment-script-model": "a thought", "revision": 0}),
        ("give-back", {"how": "skip", "why": "Not my field"}),
        ("give-back", {"how": "cannot_judge", "why": "Too little is said"}),
        ("give-back", {"how": "release"}),
        ("flag", {"flag": "The statement is cut off"}),
        ("remark", {"on": name, "line": 1, "remark": "Here"}),
        ("check", {"script": "ls $1\n"}),
        ("answer", {}),
        ("ask-feedback", {}),
        ("send-feedback", {"feedback": "Use -path."}),
        ("score", {"stage": "refined", "value": 2, "seen": name}),
        ("score", {"stage": "script", "value": 7, "seen": name}),
    ):
        yield Ask("POST", f"{review}{where}/", dict(data))
        yield Ask("POST", f"{review}{where}/", dict(data), fragment=True)
    yield Ask("POST", reverse("run-use-draft", args=[draft.pk]), {"reason": "urgent"})
    yield Ask("POST", reverse("queue-next"))
    if not item.campaign.is_live:
        yield Ask("POST", reverse("study-next", args=[item.campaign_id]))
    api = f"/api/v1/items/{public_key(ITEM, item.pk)}/"
    for where, sent in (
        ("claim", {}),
        ("give-back", {"how": "skipped", "why": "Not my field"}),
        ("remarks", {"draft": name, "line": 1, "text": "Here"}),
        ("feedback", {"feedback": "Use -path."}),
        ("evidence/label", {"stage": "script", "reason": "case_wrong"}),
        ("evidence/strike", {"set": "0" * 64, "what": "1", "reason": "No."}),
        ("evidence/cases", {"set": "0" * 64, "case": {}, "reason": "No."}),
    ):
        yield Ask("POST", f"{api}{where}/", dict(sent), as_json=True)
