"""Preview a file before it is imported: its columns, and its first rows as the import would read them.

The file is stored in the data folder. The database is unchanged until a user has confirmed the columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
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
from review.exchange.column_choice import (
    HABITS,
    OURS,
    FileColumn,
    of_items,
    scores_beside,
)
from review.exchange.importing.campaigns import check_takes_imports
from review.exchange.rows.column_guess import Guess, guess_items, guess_kind, guess_scores
from review.exchange.rows.columns import (
    ADJUDICATED,
    CALLED_IN,
    ITEM_COLUMNS,
    REVIEWER,
    BadMapping,
    Columns,
    WideColumn,
    paths_of,
    read_mapping,
    value_at,
)
from review.exchange.rows.item_rows import read_item
from review.exchange.rows.score_rows import read_scores
from review.exchange.rows.values import RowProblem
from review.exchange.source import OWN, Source, format_by_name
from review.exchange.transfer_files import kept_files
from review.models import Campaign, Transfer

MOST_COLUMNS = 60
_LOOKED_AT, _SHOWN = 50, 5
_MOST_TEXT = 300
_SALT = "review.exchange.import_preview"


@dataclass(frozen=True)
class Upload:
    """A file whose preview is waiting for confirmation."""

    kept: str  # name of the stored file
    name: str
    kind: str
    format: str
    pairs: Mapping[str, str]  # the mapping that was entered with the upload


@dataclass(frozen=True)
class ReadRow:
    """One of the first rows as the import would read it, or the reason why the row would be rejected."""

    line: int
    cells: Sequence[str] = ()
    problem: str = ""


@dataclass(frozen=True)
class FileLook:
    """The preview of a file. `columns` is empty for our own exports, because their columns are known."""

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
    """Save a file for the preview and return a signed token that only this user can use to read the file.

    If `kind` is empty, the file's columns determine whether it contains items or scores. Raises BadInput for a file
    that can't be read, and NotAllowedNow if the campaign accepts no imports.
    """
    check_takes_imports(campaign)
    jobs.check_size(file)
    kept = kept_files.keep(file)
    upload = Upload(kept, Path(file.name or "").name[:255], kind, format, mapping)
    try:
        upload = upload if kind else replace(upload, kind=_kind_of(upload))
        look_at(upload, mapping)
    except BadInput:
        kept_files.delete(kept)
        raise
    said = [kept, upload.name, upload.kind, format, dict(mapping)]
    return signing.dumps([campaign.pk, by.pk, *said], salt=_SALT, compress=True)


def find_upload(campaign: Campaign, word: str, *, by: User) -> Upload:
    """Return the upload for a token.

    Raises NotAllowedNow if the upload belongs to another user or its file was deleted.
    """
    try:
        campaign_id, user_id, kept, *said = signing.loads(word, salt=_SALT)
    except (signing.BadSignature, ValueError):
        campaign_id = user_id = 0
        kept = ""
    if (campaign_id, user_id) != (campaign.pk, by.pk) or not kept_files.has(kept):
        raise NotAllowedNow(_("This file is no longer stored. Choose it again."))
    return Upload(kept, *said)


def look_at(upload: Upload, pairs: Mapping[str, str]) -> FileLook:
    """Return the file's columns with their roles, and its first rows. Raises BadInput if the file can't be read."""
    records = _read_first(upload)
    names = _names_of(records)
    is_export = OWN in names
    read = _items_alone(upload.kind, pairs)
    columns = _columns_of(upload.kind, read).with_habits_of(names, HABITS[upload.kind])
    heads, rows = _read_rows(upload.kind, columns, records[:_SHOWN])
    beside = _columns_of(Transfer.Kind.SCORES, scores_beside(pairs, names))
    wide = beside.wide if upload.kind == Transfer.Kind.ITEMS else columns.wide
    shown = (
        [] if is_export else [_column(upload.kind, one, columns, wide, records) for one in names]
    )
    return FileLook(columns=shown, heads=heads, rows=rows, is_export=is_export)


def guess_columns(upload: Upload) -> list[FileColumn]:
    """Return the file's columns with a guessed role for each. Columns in the upload's mapping keep their roles."""
    columns = look_at(upload, upload.pairs).columns
    records = _read_first(upload)
    samples = {one.name: [value_at(each.values, one.name) for each in records] for one in columns}
    guess = guess_items if upload.kind == Transfer.Kind.ITEMS else guess_scores
    guesses = guess([one.name for one in columns], samples)
    return [_guessed(one, guesses[one.name], upload.pairs) for one in columns]


def _guessed(column: FileColumn, guess: Guess, pairs: Mapping[str, str]) -> FileColumn:
    if column.name in pairs.values() or guess.role in pairs:
        return column
    told_by = "" if not guess.role else "values" if guess.by_values else "name"
    return replace(column, role=guess.role, person=guess.person, told_by=told_by)


def _kind_of(upload: Upload) -> str:
    """Return the kind of the file, guessed from its columns. Our own exports are imported as items."""
    records = _read_first(upload)
    names = _names_of(records)
    if OWN in names:
        return Transfer.Kind.ITEMS.value
    return guess_kind(
        names, {name: [value_at(one.values, name) for one in records] for name in names}
    )


def _items_alone(kind: str, pairs: Mapping[str, str]) -> Mapping[str, str]:
    return of_items(pairs) if kind == Transfer.Kind.ITEMS else pairs


def import_looked_at(campaign: Campaign, upload: Upload, *, by: User) -> Transfer:
    """Start the import of a previewed file, and delete the preview's copy of the file.

    Scores in the same file as the items are imported after the items. Raises the same errors as `jobs.begin_import`.
    """
    names: list[str] = []
    if upload.kind == Transfer.Kind.ITEMS:
        names = _names_of(_read_first(upload))
    with kept_files.fetch(upload.kept).open("rb") as file:
        transfer = jobs.begin_import(
            campaign,
            upload.kind,
            File(file, name=upload.name),
            mapping=_items_alone(upload.kind, upload.pairs),
            format=upload.format,
            scores=scores_beside(upload.pairs, names) if names else None,
            by=by,
        )
    kept_files.delete(upload.kept)
    return transfer


def _read_first(upload: Upload) -> list[Record]:
    try:
        format = upload.format or format_by_name(upload.name) or ""
        with closing(Source(kept_files.fetch(upload.kept), format=format)) as source:
            return list(islice(source, _LOOKED_AT))
    except UnreadableFile as error:
        raise BadInput(str(error), field="file") from error


def _names_of(records: Sequence[Record]) -> list[str]:
    """Return the names of the records' columns.

    Nested columns that are not ours are replaced by the paths inside them.
    """
    found: dict[str, None] = {}
    for name, value in (pair for one in records for pair in one.values.items()):
        is_nested = isinstance(value, (dict, list)) and name not in ITEM_COLUMNS
        found.update(dict.fromkeys(paths_of(value, name) if is_nested else [name]))
    return list(found)[:MOST_COLUMNS]


def _columns_of(kind: str, pairs: Mapping[str, str]) -> Columns:
    try:
        return read_mapping(pairs, ours=OURS[kind])
    except BadMapping as error:
        raise BadInput(str(error), field="mapping") from error


def _column(
    kind: str,
    name: str,
    columns: Columns,
    people: Sequence[WideColumn],
    records: Sequence[Record],
) -> FileColumn:
    samples = (_say(value_at(one.values, name)) for one in records)
    wide = next((one for one in people if one.name == name), None)
    named = next((ours for ours, theirs in columns.named.items() if theirs == name), "")
    own = name if name in OURS[kind] and name not in columns.named else ""
    role = named or own
    if wide:
        what = CALLED_IN if wide.was_called_in else REVIEWER
        role = f"{ADJUDICATED if wide.adjudicates else what}{wide.stage}"
    return FileColumn(
        name=name,
        samples=list(islice((text for text in samples if text), 3)),
        role=role,
        person=wide.person if wide else "",
    )


def _read_rows(
    kind: str, columns: Columns, records: Sequence[Record]
) -> tuple[list[str], list[ReadRow]]:
    """Return the headings and the rows of the preview table."""
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
        yield ReadRow(record.line, [_say(values.get("item")), "", "", _("no score")])


def _say(value: object) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…"
