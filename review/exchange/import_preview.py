"""A look into a file before it is imported: its columns, and its first rows as they would be read.

The file waits in the data folder; nothing of it is in the database until somebody has said what its columns are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from django.contrib.auth.models import User
from django.core import signing
from django.core.files.base import File
from django.utils.translation import gettext as _

from core.errors import BadInput, NotAllowedNow
from core.files.lines import UnreadableFile
from core.files.records import Record
from review.exchange import jobs
from review.exchange.importing.campaigns import check_takes_imports
from review.exchange.kept_files import keep_upload, path_named
from review.exchange.rows.columns import (
    ADJUDICATED,
    ITEM_COLUMNS,
    ITEM_HABITS,
    REVIEWER,
    SCORE_COLUMNS,
    SCORE_HABITS,
    STAGES,
    BadMapping,
    Columns,
    read_mapping,
)
from review.exchange.rows.item_rows import read_item
from review.exchange.rows.score_rows import read_scores
from review.exchange.rows.values import RowProblem
from review.exchange.source import OWN, Source, format_by_name
from review.models import Campaign, Transfer

MOST_COLUMNS = 60
_LOOKED_AT, _SHOWN = 50, 5
_MOST_TEXT = 300
_SALT = "review.exchange.import_preview"
# What a column is mapped to that is called like one of ours and is to be left out: no column has this name.
_NOWHERE = "\u2014"
_HABITS = {Transfer.Kind.ITEMS.value: ITEM_HABITS, Transfer.Kind.SCORES.value: SCORE_HABITS}


@dataclass(frozen=True)
class Upload:
    """A file that waits to be looked at."""

    path: Path
    name: str
    kind: str
    format: str
    pairs: Mapping[str, str]  # columns that were named with it


@dataclass(frozen=True)
class FileColumn:
    """One column of the file: what it holds in the first rows, and what it is read as; empty where left out."""

    name: str
    samples: Sequence[str]
    role: str
    person: str = ""


@dataclass(frozen=True)
class ReadRow:
    """One of the first rows as it would be read: names and values, or why it would be refused."""

    line: int
    cells: Sequence[str] = ()
    problem: str = ""


@dataclass(frozen=True)
class FileLook:
    """What is seen of a file. An export of ours names its columns itself: there is nothing to choose."""

    columns: Sequence[FileColumn]
    heads: Sequence[str]
    rows: Sequence[ReadRow]
    is_export: bool


def keep_to_look(
    campaign: Campaign,
    kind: str,
    file: File[bytes],
    *,
    mapping: Mapping[str, str],
    format: str,
    by: User,
) -> str:
    """Put a file aside to be looked at; returns the word under which it is found again, by this person alone.

    Raises BadInput for a file that can't be read, NotAllowedNow where nothing may come in.
    """
    check_takes_imports(campaign)
    jobs.check_size(file)
    path = keep_upload(file)
    upload = Upload(path, Path(file.name or "").name[:255], kind, format, mapping)
    try:
        look_at(upload, mapping)
    except BadInput:
        path.unlink(missing_ok=True)
        raise
    said = [path.name, upload.name, kind, format, dict(mapping)]
    return signing.dumps([campaign.pk, by.pk, *said], salt=_SALT, compress=True)


def find_upload(campaign: Campaign, word: str, *, by: User) -> Upload:
    """The file that was put aside. Raises NotAllowedNow where it is somebody else's, or gone."""
    try:
        campaign_id, user_id, path, *said = signing.loads(word, salt=_SALT)
    except (signing.BadSignature, ValueError):
        campaign_id = user_id = 0
        path = ""
    if (campaign_id, user_id) != (campaign.pk, by.pk) or not path_named(path).is_file():
        raise NotAllowedNow(_("This file is no longer kept here. Choose it again."))
    return Upload(path_named(path), *said)


def look_at(upload: Upload, pairs: Mapping[str, str]) -> FileLook:
    """The file's columns with what they are read as, and its first rows so read. Raises BadInput."""
    records = _read_first(upload)
    names = list(dict.fromkeys(name for one in records for name in one.values))[:MOST_COLUMNS]
    is_export = OWN in names
    columns = _columns_of(upload.kind, pairs).with_habits_of(names, _HABITS[upload.kind])
    heads, rows = _read_rows(upload.kind, columns, records[:_SHOWN])
    shown = [] if is_export else [_column(upload.kind, one, columns, records) for one in names]
    return FileLook(columns=shown, heads=heads, rows=rows, is_export=is_export)


def pairs_of(upload: Upload, chosen: Sequence[FileColumn]) -> dict[str, str]:
    """What was chosen for each column as the mapping that an import takes. Raises BadInput for a choice made twice."""
    ours, pairs = jobs.OURS[upload.kind], dict[str, str]()
    for column in chosen:
        role = column.role
        if role.startswith((REVIEWER, ADJUDICATED)):
            what, _colon, stage = role.partition(":")
            role = f"{what}:{column.person or column.name}:{stage}"
        if not role:
            continue
        if role in pairs:
            raise BadInput(
                _("“%(one)s” and “%(other)s” are both chosen for the same.")
                % {"one": pairs[role], "other": column.name},
                field="columns",
            )
        pairs[role] = column.name
    # What is left out must not be taken by its own name, nor by the habits of a known set of data.
    names = [column.name for column in chosen]
    habits = Columns().with_habits_of(names, _HABITS[upload.kind]).named
    usual = {name: name for name in names if name in ours} | {one: to for to, one in habits.items()}
    for column in chosen:
        if not column.role and column.name in usual:
            pairs.setdefault(usual[column.name], _NOWHERE)
    return {role: name for role, name in pairs.items() if role != name}


def import_looked_at(campaign: Campaign, upload: Upload, *, by: User) -> Transfer:
    """Have it imported as it was looked at; it is kept aside no longer. Raises as `jobs.begin_import`."""
    with upload.path.open("rb") as file:
        transfer = jobs.begin_import(
            campaign,
            upload.kind,
            File(file, name=upload.name),
            mapping=upload.pairs,
            format=upload.format,
            by=by,
        )
    upload.path.unlink(missing_ok=True)
    return transfer


def _read_first(upload: Upload) -> list[Record]:
    try:
        format = upload.format or format_by_name(upload.name) or ""
        with closing(Source(upload.path, format=format)) as source:
            return list(islice(source, _LOOKED_AT))
    except UnreadableFile as error:
        raise BadInput(str(error), field="file") from error


def _columns_of(kind: str, pairs: Mapping[str, str]) -> Columns:
    try:
        return read_mapping(pairs, ours=jobs.OURS[kind])
    except BadMapping as error:
        raise BadInput(str(error), field="mapping") from error


def _column(kind: str, name: str, columns: Columns, records: Sequence[Record]) -> FileColumn:
    samples = (_say(one.values.get(name)) for one in records)
    wide = next((one for one in columns.wide if one.name == name), None)
    named = next((ours for ours, theirs in columns.named.items() if theirs == name), "")
    own = name if name in jobs.OURS[kind] and name not in columns.named else ""
    role = named or own
    if wide:
        role = f"{ADJUDICATED if wide.adjudicates else REVIEWER}{wide.stage}"
    return FileColumn(
        name=name,
        samples=list(islice((text for text in samples if text), 3)),
        role=role,
        person=wide.person if wide else "",
    )


def _read_rows(
    kind: str, columns: Columns, records: Sequence[Record]
) -> tuple[list[str], list[ReadRow]]:
    """The heads of the table, and the rows below them."""
    of_items = kind == Transfer.Kind.ITEMS
    renamed = [_rename(one, columns) for one in records]
    used = [name for name in ITEM_COLUMNS if any(values.get(name) for values in renamed)]
    heads = used if of_items else ["item", "reviewer", "stage", "value"]
    rows: list[ReadRow] = []
    for record, values in zip(records, renamed, strict=True):
        try:
            if record.problem:
                raise RowProblem(record.problem)
            if of_items:
                read_item(values)
                rows.append(ReadRow(record.line, [_say(values.get(name)) for name in used]))
            else:
                rows += _score_rows(record, values, columns)
        except RowProblem as problem:
            where = f"{problem.column}: " if problem.column else ""
            rows.append(ReadRow(record.line, problem=f"{where}{problem}"))
    return heads, rows


def _rename(record: Record, columns: Columns) -> dict[str, object]:
    return record.values if OWN in record.values else columns.rename(record.values)


def _score_rows(record: Record, values: dict[str, object], columns: Columns) -> Iterator[ReadRow]:
    if values.get(OWN) not in (None, "", "score", "adjudication"):
        return
    given = read_scores(values, line=record.line, columns=columns)
    for one in given:
        yield ReadRow(record.line, [one.item, one.person, one.stage, str(one.value)])
    if not given:
        yield ReadRow(record.line, [_say(values.get("item")), "", "", _("nothing asked")])


def _say(value: object) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…"


def roles_of(kind: str) -> list[tuple[str, str]]:
    """What a column may be read as, for a select: what it is called here, and in words."""
    if kind == Transfer.Kind.ITEMS:
        return [(name, name) for name in ITEM_COLUMNS]
    by_rater = [(f"{REVIEWER}{stage}", _("scores of one reviewer: %s") % stage) for stage in STAGES]
    finals = [(f"{ADJUDICATED}{stage}", _("final scores: %s") % stage) for stage in STAGES]
    return [*((name, name) for name in SCORE_COLUMNS), *by_rater, *finals]
