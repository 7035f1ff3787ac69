"""How the generator's examples were chosen, and how many items were shown an entry that answers, from the ledger."""

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

_SLICE = 500
_KEPT_SECONDS = 24 * 3600  # prompts never change, and the judgement takes milliseconds for each


def report_examples(campaign: Campaign) -> dict[str, int]:
    """Count the items by how examples were chosen.

    `off`: none were asked for. `guarded`: entries that answer were excluded. `unguarded`: they were not, as in runs of
    earlier releases and in runs made outside the study. `read` of these have a stored prompt, and in `revealed` of
    these the prompt contains an entry that is excluded now.
    """
    runs = dict(
        campaign.items.exclude(Q(run=None) | Q(run__origin=Run.Origin.IMPORTED))
        .exclude(state=Item.State.WITHDRAWN)
        .filter(again="")
        .values_list("run", "run__spec")
    )
    counts = Counter({"off": 0, "guarded": 0, "unguarded": 0, "read": 0, "revealed": 0})
    unguarded = []
    for pk, spec in runs.items():
        if not spec.get("uses_examples"):
            counts["off"] += 1
        elif spec.get("guards_examples"):
            counts["guarded"] += 1
        else:
            counts["unguarded"] += 1
            unguarded.append(pk)
    for start in range(0, len(unguarded), _SLICE):
        counts.update(_read_prompts(sorted(unguarded)[start : start + _SLICE]))
    return dict(counts)


def _read_prompts(runs: list[int]) -> Counter[str]:
    calls = ModelCall.objects.filter(
        run__in=runs, stage=StageName.GENERATE.value, run__action__erased_at=None
    )
    found = Counter({"read": calls.values("run").distinct().count()})
    keys = {f"examples:{pk}": pk for pk in runs}
    known = cache.get_many(keys)
    left = [pk for key, pk in keys.items() if key not in known]
    new = _judge(calls.filter(run__in=left).select_related("run__action")) if left else {}
    cache.set_many({f"examples:{pk}": leaks for pk, leaks in new.items()}, _KEPT_SECONDS)
    found["revealed"] = sum([*known.values(), *new.values()])
    return found


def _judge(calls: Iterable[ModelCall]) -> dict[int, bool]:
    """For each run, whether one of its prompts contains an entry that answers."""
    calls = list(calls)
    retrieved: dict[int, list[RetrievedMatch]] = defaultdict(list)
    for row in RetrievedMatch.objects.filter(
        run__in={call.run_id for call in calls}
    ).select_related("version"):
        retrieved[row.run_id].append(row)
    found: dict[int, bool] = {}
    for call in calls:
        rows, action = retrieved[call.run_id], call.run.action
        cosines = {row.version.script: row.cosine for row in rows}
        prompt = parse_prompt("", call.request["messages"][0]["content"])
        texts = zip(prompt.all("EXAMPLE_STATEMENT"), prompt.all("EXAMPLE_SCRIPT"), strict=True)
        shown = [Neighbour(0, *both, cosines.get(both[1], 0.0)) for both in texts]
        found[call.run_id] = found.get(call.run_id, False) or catalog.reveals_answer(
            shown,
            action.statement,
            reference=action.reference,
            matched=[row.version.script for row in rows if row.answer != Answer.NONE],
        )
    return found
