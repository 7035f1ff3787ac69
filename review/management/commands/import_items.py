"""python manage.py import_items CAMPAIGN FILE"""

from __future__ import annotations

from review.exchange.commands import ImportCommand
from review.exchange.importing.items import import_items
from review.exchange.rows.columns import ITEM_COLUMNS
from review.exchange.source import FORMAT_TITLES


class Command(ImportCommand):
    help = (
        f"Import items from a file ({FORMAT_TITLES}) into CAMPAIGN, which is made where there is none."
        " Exit status: 0 all good, 1 some rows refused and the good ones kept, 2 nothing read."
    )
    ours = ITEM_COLUMNS
    carry_out = staticmethod(import_items)
