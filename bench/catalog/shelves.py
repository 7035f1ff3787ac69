"""A large catalogue for benchmarks, with statements from templates and literals, their scripts and their vectors.

Embedding every statement would take ten minutes, so only some statements of each form are embedded. Each other vector
is the sum of an embedded vector, the difference between two other embedded vectors, and some noise. This simulates the
effect of different literals. Queries are always embedded.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone
from numpy.typing import NDArray
from pgvector.psycopg import register_vector
from psycopg import Connection

from bench.support.statements import execute
from catalog.embedding import Embedder
from catalog.models import Embedding, EmbeddingModel, Entry, Phrasing, Tag, Version
from catalog.retrieval import text_search, vector_store

EMBEDDED = 12  # number of embedded statements for each form
MOVED = 0.7  # factor for the difference between two embedded vectors
SCATTER = 0.008  # standard deviation of the noise on each of the 384 numbers
OWNERS, TAGS = 30, 60
BATCH = 2_000
STATES = ("verified",) * 17 + ("in_review", "draft", "deprecated")
SUSPENDED = 0.01
SECOND_WORDING = 0.3  # share of entries with a phrasing in addition to the title

# Tasks in English and in Bash. Both versions contain the same literals.
_ACTIONS = (
    ("List files older than {days} days in {path}", "find {path} -type f -mtime +{days}"),
    ("Delete files named {glob} in {path}", "find {path} -type f -name '{glob}' -delete"),
    ("Show the {count} largest files below {path}", "du -a {path} | sort -rn | head -n {count}"),
    ("Count the lines of every {glob} file below {path}", "find {path} -name '{glob}' | xargs wc -l"),
    ("Compress {path} into a tar archive for {host}", "tar -czf {host}.tar.gz {path}"),
    ("Copy {path} to {host} with rsync", "rsync -a {path} {host}:{path}"),
    ("Restart {service} if its configuration is valid", "{service} -t && systemctl restart {service}"),
    ("Show the last {count} log lines of {service}", "journalctl -u {service} -n {count}"),
    ("Print which process listens on port {port}", "ss -ltnp 'sport = :{port}'"),
    ("Check that {host} answers on port {port}", "nc -z {host} {port}"),
    ("Show the memory that {service} uses", "systemctl show {service} -p MemoryCurrent"),
    ("Change the owner of {path} to {user}", "chown -R {user} {path}"),
    ("Find directories in {path} that {user} can write to", "sudo -u {user} find {path} -type d -writable"),
    ("Search {path} for lines with {word}", "grep -rn '{word}' {path}"),
    ("Replace {word} by {other} in every {glob} file of {path}", "sed -i 's/{word}/{other}/g' {path}/{glob}"),
    ("Kill processes of {user} that run for more than {days} days", "pkill -u {user} --older {days}d"),
    ("Mount the volume of {host} at {path}", "mount {host}:/export {path}"),
    ("Show how full the disk under {path} is", "df -h {path}"),
    ("Rotate the logs of {service} and keep {count}", "logrotate -f /etc/logrotate.d/{service}  # {count}"),
    ("Drain the node {host} for maintenance", "kubectl drain {host} --ignore-daemonsets"),
    ("Scale the deployment {service} to {count} replicas", "kubectl scale deploy/{service} --replicas={count}"),
    ("Dump the database {word} from {host}", "pg_dump -h {host} {word}"),
    ("Show slow queries of the database {word} over {count} seconds", "psql {word} -c '-- over {count} s'"),
    ("Renew the certificate of {host}", "certbot renew --cert-name {host}"),
    ("Show when the certificate of {host} ends", "openssl s_client -connect {host}:{port}"),
    ("Block the address {address} in the firewall", "nft add element inet filter blocked {{ {address} }}"),
    ("Trace the route to {address}", "traceroute {address}"),
    ("Lock the account {user}", "usermod -L {user}"),
    ("Show the last {count} sign-ins of {user}", "last -n {count} {user}"),
    ("Remove containers that stopped more than {days} days ago", "docker container prune --filter until={days}d"),
    ("Show the {count} processes that use most memory", "ps aux --sort=-rss | head -n {count}"),
    ("Print the difference of {path} here and on {host}", "diff -r {path} <(ssh {host} cat {path})"),
)  # fmt: skip
_ENDINGS = (
    ("", ""),
    (" and sort the result", " | sort"),
    (" and mail it to {user}", " | mail {user}"),
    (" without asking", " # yes"),
    (" and write it to a report", " | tee report"),
    (", but only on {host}", " # on {host}"),
    (" as {user}", " # as {user}"),
    (" every {count} minutes", " # */{count}"),
)
_WORDS = (
    "orders", "billing", "queue", "search", "mirror", "archive", "session", "invoice", "report",
    "cluster", "replica",
)  # fmt: skip
_LITERALS: dict[str, tuple[str, ...]] = {
    "path": tuple(
        f"/{top}/{word}/{number}"
        for top, word, number in product(("srv", "var/log", "opt", "data", "home"), _WORDS, range(40))
    ),
    "host": tuple(f"{word}{number:02}.example.org" for word, number in product(_WORDS, range(60))),
    "service": tuple(f"{word}-{role}" for word, role in product(_WORDS, ("web", "worker", "cache", "db"))),
    "user": tuple(f"{word}{number}" for word, number in product(("ops", "deploy", "app"), range(40))),
    "glob": ("*.log", "*.tmp", "*.gz", "*.conf", "core.*", "*.bak", "*.csv", "*.json", "*.pid"),
    "days": tuple(map(str, range(1, 120))),
    "count": tuple(map(str, range(2, 200))),
    "port": tuple(map(str, range(1024, 9999, 7))),
    "address": tuple(f"10.{a}.{b}.{a + b}" for a, b in product(range(40), range(60))),
    "word": tuple(f"{word}_{number}" for word, number in product(_WORDS, range(50))),
    "other": tuple(f"{word}_new" for word in _WORDS),
}  # fmt: skip

Floats = NDArray[np.float32]


class Stated(NamedTuple):
    """A statement and its script, and the form from which they were created."""

    form: int
    statement: str
    script: str


class Forms:
    """All combinations of actions and endings, with the vectors of their embedded statements."""

    def __init__(self, embedder: Embedder, *, seed: int) -> None:
        """Embed some statements of each form. An embedding takes about 5 ms."""
        self._dice = random.Random(seed)
        self._noise = np.random.default_rng(seed)
        self._forms = [
            (said + more, script + effect)
            for (said, script), (more, effect) in product(_ACTIONS, _ENDINGS)
        ]
        texts = [self._state(form).statement for form in range(len(self)) for _ in range(EMBEDDED)]
        self._anchors = embedder.embed(texts).reshape(len(self), EMBEDDED, -1)
        self.embedded = len(texts)

    def __len__(self) -> int:
        return len(self._forms)

    def draw(self) -> Stated:
        """Return a random statement."""
        return self._state(self._dice.randrange(len(self)))

    def vectors_of(self, forms: NDArray[np.int64]) -> Floats:
        """Return a random vector for each of these forms."""
        some, others, third = (
            self._anchors[forms, self._noise.integers(EMBEDDED, size=len(forms))] for _ in range(3)
        )
        found = some + MOVED * (others - third)
        found += self._noise.normal(scale=SCATTER, size=found.shape).astype(np.float32)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        result: Floats = (found / lengths).astype(np.float32)
        return result

    def _state(self, form: int) -> Stated:
        said, script = self._forms[form]
        chosen = {kind: self._dice.choice(texts) for kind, texts in _LITERALS.items()}
        return Stated(form, said.format(**chosen), script.format(**chosen))


def fill(entries: int, forms: Forms, model: EmbeddingModel, *, before: int = 0) -> None:
    """Fill the catalogue up to `entries` entries with one version each, and vectors of `model` for all phrasings.

    `before` is the number of existing entries. Rows are inserted in batches, and vectors by COPY. The product's own SQL
    updates the search documents.
    """
    dice = random.Random(entries)
    owners = [User.objects.get_or_create(username=f"owner-{place}")[0] for place in range(OWNERS)]
    tags = [Tag.objects.get_or_create(name=f"tag-{place}")[0] for place in range(TAGS)]
    for start in range(before, entries, BATCH):
        numbers = range(start, min(start + BATCH, entries))
        made = _make_entries(numbers, forms, dice)
        versions = Version.objects.bulk_create(_version(*one, owners, dice) for one in made)
        _tag(versions, tags, dice)
        phrasings = list(_phrasings(made, forms, dice))
        Phrasing.objects.bulk_create([phrasing for phrasing, _ in phrasings])
        answering = {
            version.entry_id
            for version in versions
            if version.state == "verified" and version.entry.suspended_at is None
        }
        placed = forms.vectors_of(np.array([form for _, form in phrasings]))
        with connection.cursor() as cursor:
            rows = [
                (phrasing.pk, model.pk, vector, phrasing.entry_id in answering)
                for (phrasing, _), vector in zip(phrasings, placed, strict=True)
            ]
            copy_vectors(cursor.connection, rows)
        if start == before:
            # The benchmark's servers have no autovacuum. Without statistics, PostgreSQL assumes empty tables and would
            # scan all tags for each entry.
            execute("ANALYZE")
        text_search.refresh_documents([entry.pk for entry, _ in made])
    connection.close()  # because vectors are registered as numpy arrays on this connection


def copy_vectors(raw: Connection, rows: list[tuple[int, int, Floats, bool]]) -> None:
    """Insert vectors of phrasings. Each row has the phrasing's key, the model's key, the vector, and `searchable`."""
    register_vector(raw)
    into = f"COPY {Embedding._meta.db_table} (phrasing_id, model_id, vector, searchable)"
    with raw.cursor() as cursor, cursor.copy(f"{into} FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(["int8", "int8", "vector", "bool"])
        for row in rows:
            copy.write_row(row)


def make_model() -> EmbeddingModel:
    """Create the current model for the configured embedder, without an index."""
    wanted = vector_store.embedder()
    return EmbeddingModel.objects.create(
        name=wanted.name,
        spec="minilm",
        dimension=wanted.dimension,
        state=EmbeddingModel.State.CURRENT,
    )


def _make_entries(
    numbers: Sequence[int], forms: Forms, dice: random.Random
) -> list[tuple[Entry, Stated]]:
    stated = [forms.draw() for _ in numbers]
    entries = Entry.objects.bulk_create(
        Entry(
            slug=f"entry-{number}",
            title=one.statement,
            **_suspension(dice),
        )
        for number, one in zip(numbers, stated, strict=True)
    )
    return list(zip(entries, stated, strict=True))


def _suspension(dice: random.Random) -> dict[str, object]:
    if dice.random() > SUSPENDED:
        return {}
    return {"suspended_at": timezone.now(), "suspended_why": "It made things worse."}


def _version(entry: Entry, stated: Stated, owners: list[User], dice: random.Random) -> Version:
    state = dice.choice(STATES)
    script = f"#!/usr/bin/env bash\nset -euo pipefail\n{stated.script}\n"
    return Version(
        entry=entry,
        number=1,
        state=state,
        script=script,
        sha256=Version.hash_of(script),
        risk=dice.choices(("low", "medium", "high"), (70, 25, 5))[0],
        side_effect=dice.choices(("read_only", "mutating", "unknown"), (55, 40, 5))[0],
        owner=dice.choice(owners) if dice.random() < 0.5 else None,
        verified_at=timezone.now() if state == "verified" else None,
    )


def _tag(versions: list[Version], tags: list[Tag], dice: random.Random) -> None:
    """Add up to two random tags to each version. The first tags are frequent, and the last tags are rare."""
    weights = [1 / (place + 1) ** 1.3 for place in range(TAGS)]
    Through = Version.tags.through
    Through.objects.bulk_create(
        Through(version_id=version.pk, tag_id=tag.pk)
        for version in versions
        for tag in set(dice.choices(tags, weights, k=2))
    )


def _phrasings(
    made: list[tuple[Entry, Stated]], forms: Forms, dice: random.Random
) -> Iterator[tuple[Phrasing, int]]:
    for entry, stated in made:
        yield (
            Phrasing(entry=entry, text=entry.title, source="title", confirmed_at=entry.created_at),
            stated.form,
        )
        if dice.random() < SECOND_WORDING:
            text = f"Please {entry.title[:1].lower()}{entry.title[1:]}"
            yield (
                Phrasing(entry=entry, text=text, source="imported", confirmed_at=entry.created_at),
                stated.form,
            )
