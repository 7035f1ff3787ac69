"""Report how the generator's examples were selected, and how many prompts contained an entry with the answer."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from django.core.cache import cache
from django.db.models import Q

from catalog import services as catalog
from catalog.types import Answer, Neighbour
from pipeline.models import ModelCall, RetrievedMatch, Run
from pipeline.standin.prompt_contract import parse_prompt
from pipeline.types import StageName
from review.models import Campaign, Item

# Checking a prompt takes a few milliseconds, so a report checks at most this many new prompts. The results are cached,
# because prompts never change.
_MOST_AT_ONCE = 1_000
_KEPT_SECONDS = 24 * 3600


def report_examples(campaign: Campaign) -> dict[str, int]:
    """Count the items by how their examples were selected.

    `off`: The prompt has no examples. `guarded`: Entries that answer the statement were excluded. `unguarded`: Such
    entries were not excluded, as in runs of earlier releases and runs outside the study. `read` is the number of
    unguarded items whose prompts have been checked, and `revealed` is the number of these prompts with such an entry.
    """
    runs = (
        campaign.items.exclude(Q(run=None) | Q(run__origin=Run.Origin.IMPORTED))
        .exclude(state=Item.State.WITHDRAWN)
        .filter(again="")
        .values_list("run", "run__spec__uses_examples", "run__spec__guards_examples")
    )
    counts = Counter({"off": 0, "guarded": 0, "unguarded": 0, "read": 0, "revealed": 0})
    unguarded = []
    for pk, uses_examples, guards_examples in runs:
        if not uses_examples:
            counts["off"] += 1
        elif guards_examples:
            counts["guarded"] += 1
        else:
            counts["unguarded"] += 1
            unguarded.append(pk)
    revealed = _read_prompts(unguarded)
    counts.update(read=len(revealed), revealed=sum(revealed.values()))
    return dict(counts)


def _read_prompts(runs: list[int]) -> dict[str, bool]:
    """Check stored prompts, and return for each checked run whether an example answers the statement."""
    keys = {f"examples:{pk}": pk for pk in runs}
    known: dict[str, bool] = cache.get_many(keys)
    left = [pk for key, pk in keys.items() if key not in known]
    calls = ModelCall.objects.filter(
        run__in=left, stage=StageName.GENERATE.value, run__action__erased_at=None
    )
    new = _judge(calls.select_related("run__action").order_by("run")[:_MOST_AT_ONCE])
    cache.set_many(new, _KEPT_SECONDS)
    return known | new


def _judge(asked: Iterable[ModelCall]) -> dict[str, bool]:
    calls, scoring = list(asked), catalog.current_scoring()
    retrieved: dict[int, list[RetrievedMatch]] = defaultdict(list)
    for row in RetrievedMatch.objects.filter(
        run__in={call.run_id for call in calls}
    ).select_related("version"):
        retrieved[row.run_id].append(row)
    found: dict[str, bool] = {}
    for call in calls:
        rows, action = retrieved[call.run_id], call.run.action
        cosines = {row.version.script: row.cosine for row in rows}
        prompt = parse_prompt("", call.request["messages"][0]["content"])
        texts = zip(prompt.all("EXAMPLE_STATEMENT"), prompt.all("EXAMPLE_SCRIPT"), strict=True)
        shown = [Neighbour(0, *both, cosines.get(both[1], 0.0)) for both in texts]
        key = f"examples:{call.run_id}"
        found[key] = found.get(key, False) or catalog.reveals_answer(
            shown,
            action.statement,
            reference=action.reference,
            matched=[row.version.script for row in rows if row.answer != Answer.NONE],
            model=scoring,
        )
    return found
