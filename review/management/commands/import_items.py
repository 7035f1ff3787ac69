"""python manage.py import_items CAMPAIGN FILE"""

from __future__ import annotations

from review.exchange.commands import ImportCommand
from review.exchange.importing.items import import_items
from review.exchange.rows.columns import ITEM_COLUMNS
from review.exchange.source import FORMAT_TITLES


class Command(ImportCommand):
    help = (
        f"Import items from a file ({FORMAT_TITLES}) into the study CAMPAIGN, which is created if it does not exist."
        " Exit status: 0 all rows imported, 1 some rows rejected, 2 nothing imported."
    )
    ours = ITEM_COLUMNS
    carry_out = staticmethod(import_items)
