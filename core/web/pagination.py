"""Pagination of the API's lists by key, which makes late pages as cheap as the first page."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from typing import Any
from urllib.parse import parse_qs

from django.utils.translation import gettext as _
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request

from core.errors import BadInput

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}")


class KeysetPagination(CursorPagination):
    """Pagination of a list that is ordered by integers. Raises BadInput for an invalid `cursor` or `limit`."""

    page_size = 50
    page_size_query_param = "limit"
    max_page_size = 200

    def get_page_size(self, request: Request) -> int:
        limit = request.query_params.get("limit")
        if limit is None:
            return self.page_size
        if not re.fullmatch("[0-9]{1,4}", limit) or not 1 <= int(limit) <= self.max_page_size:
            raise BadInput(
                _("Enter a whole number from 1 to %(most)s.") % {"most": self.max_page_size},
                field="limit",
            )
        return int(limit)

    def decode_cursor(self, request: Request) -> Cursor | None:
        sent = request.query_params.get("cursor")
        if sent is None:
            return None
        try:
            # Decode strictly. By default, the decoder skips invalid characters, and the result would be the first page.
            said = b64decode(sent, validate=True).decode("ascii")
            parts = parse_qs(said, keep_blank_values=True, strict_parsing=True)
            position = parts.get("p", [None])[0]
            offset, reverse = (parts.get(name, ["0"])[0] for name in ("o", "r"))
        except (ValueError, binascii.Error):
            raise self._no_place() from None
        numbers = [offset, reverse, *([] if position is None else [position])]
        if not all(_WHOLE_NUMBER.fullmatch(one) for one in numbers) or parts.keys() - set("orp"):
            raise self._no_place()
        if not 0 <= int(offset) <= self.offset_cutoff:
            raise self._no_place()
        # `position` must be a string, despite the type stubs, because it is compared with a row's string.
        return Cursor(int(offset), reverse == "1", position)  # type: ignore[arg-type]

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = super().get_schema_operation_parameters(view)
        for parameter in found:
            if parameter["name"] == "limit":
                parameter["schema"] |= {"minimum": 1, "maximum": self.max_page_size}
        return found

    def _no_place(self) -> BadInput:
        return BadInput(
            _(
                "This is not a valid position in the list. Use `next` or `previous` exactly as "
                "returned."
            ),
            field="cursor",
        )


class NewestFirst(KeysetPagination):
    """Pagination of a list, newest first."""

    ordering = "-pk"
