"""Prices of models, each valid from a given day. Prices that calls have used are never changed, so that old costs can
be explained.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput, NotAllowedNow
from pipeline.access import require_endpoint_manager
from pipeline.models import Attempt, Endpoint, Price, Spending

MOST = 10_000_000_000  # micro-dollars per million tokens: 10,000 USD
_FIRST, _LAST = date(2020, 1, 1), date(2100, 1, 1)


@dataclass(frozen=True)
class PriceValues:
    """Amounts in micro-dollars per million tokens (1 USD = 1,000,000), valid from a UTC day."""

    model: str
    since: date
    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0
    source: str = ""


@transaction.atomic
def add_price(endpoint: Endpoint, *, values: PriceValues, by: User) -> Price:
    """Add a price that is valid from a given day. Earlier calls keep their cost. Raises BadInput."""
    require_endpoint_manager(by)
    amounts = {
        name: getattr(values, name) for name in ("input", "output", "cache_read", "cache_write")
    }
    if not values.model.strip() or len(values.model) > 100 or not values.model.isprintable():
        raise BadInput(_("Enter the model's name as used by the server."), field="model")
    if not _FIRST <= values.since <= _LAST:
        raise BadInput(_("Enter a date in 2020 or later."), field="since")
    for name, amount in amounts.items():
        if not 0 <= amount <= MOST:
            raise BadInput(_("Enter a price from 0 to 10,000 USD per million tokens."), field=name)
    if len(values.source) > 200 or "\0" in values.source:
        raise BadInput(_("Use at most 200 characters."), field="source")
    try:
        with transaction.atomic():
            price = endpoint.prices.create(**{**asdict(values), "model": values.model.strip()})
    except IntegrityError:
        raise BadInput(
            _(
                "This model already has a price that starts on that date, and prices can't be "
                "changed. Choose another date."
            ),
            field="since",
        ) from None
    record(endpoint, "price added", by=by, price=("", _words(price)))
    return price


@transaction.atomic
def remove_price(price: Price, *, by: User) -> None:
    """Delete a price. Raises NotAllowedNow if a call has used it."""
    require_endpoint_manager(by)
    if Price.objects.filter(Exists(_attempts_at()), pk=price.pk).exists():
        raise NotAllowedNow(
            _(
                "Calls were counted at this price, so it can't be removed. Add the correct price "
                "with a different start date."
            )
        )
    record(price.endpoint, "price removed", by=by, price=(_words(price), ""))
    price.delete()


def prices_of(endpoint: Endpoint) -> QuerySet[Price]:
    """Return the endpoint's prices, newest first for each model. `used` marks prices that calls have used."""
    # The spending table is small and shows which models were never called.
    spent = Spending.objects.filter(endpoint=OuterRef("endpoint"), model=OuterRef("model"))
    return endpoint.prices.annotate(used=Exists(spent) & Exists(_attempts_at()))


def _attempts_at() -> QuerySet[Attempt]:
    return Attempt.objects.filter(
        call__endpoint=OuterRef("endpoint"),
        call__model=OuterRef("model"),
        price_since=OuterRef("since"),
    )


def _words(price: Price) -> str:
    amounts = (price.input, price.output, price.cache_read, price.cache_write)
    return f"{price.model} since {price.since}: {', '.join(str(amount) for amount in amounts)}"
