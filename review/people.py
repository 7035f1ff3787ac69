"""Who is asking."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from rest_framework.request import Request


def signed_in(request: HttpRequest | Request) -> User:
    """The person of a request that the login middleware has let through."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user
