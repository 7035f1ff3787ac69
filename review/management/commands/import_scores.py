"""python manage.py import_scores CAMPAIGN FILE"""

from __future__ import annotations

from review.exchange.commands import ImportCommand
from review.exchange.importing.scores import import_scores
from review.exchange.rows.columns import SCORE_COLUMNS
from review.exchange.source import FORMAT_TITLES


class Command(ImportCommand):
    help = (
        f"Import scores that were given elsewhere from a file ({FORMAT_TITLES}) into CAMPAIGN."
        " Exit status: 0 all good, 1 some rows refused and the good ones kept, 2 nothing read."
    )
    ours = SCORE_COLUMNS
    carry_out = staticmethod(import_scores)
