"""python manage.py import_scores CAMPAIGN FILE"""

from __future__ import annotations

from review.exchange.commands import ImportCommand
from review.exchange.importing.scores import import_scores
from review.exchange.rows.columns import SCORE_COLUMNS
from review.exchange.source import FORMAT_TITLES


class Command(ImportCommand):
    help = (
        f"Import scores that were given elsewhere from a file ({FORMAT_TITLES}) into the study CAMPAIGN."
        " Exit status: 0 all rows imported, 1 some rows rejected, 2 nothing imported."
    )
    ours = SCORE_COLUMNS
    carry_out = staticmethod(import_scores)
