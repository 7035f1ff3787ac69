"""The API that pipelines call to check that a script is verified before they run it."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.helpers import forced_singular_serializer
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalog import hooks
from catalog.access import AGENT_SCOPE, READ_SCOPE, access_entries, access_entry
from catalog.analysis.types import MAXIMUM_BYTES
from catalog.programs.services import (
    KnownScript,
    Runner,
    ScriptStatus,
    export_for,
    look_up_hash,
    look_up_text,
    verification_words,
)
from catalog.programs.views import file_response
from core.texts import name_of
from core.web.requests import read_body, read_query, signed_in
from core.web.site_address import site_url


class HashInput(serializers.Serializer[Any]):
    sha256 = serializers.RegexField(
        r"^[0-9a-fA-F]{64}\Z",
        trim_whitespace=False,
        error_messages={"invalid": "A SHA-256 has 64 hexadecimal digits."},
    )


class TextInput(serializers.Serializer[Any]):
    text = serializers.CharField(
        trim_whitespace=False,
        max_length=MAXIMUM_BYTES,
        help_text="The exact text of a script, with or without values filled in.",
    )


class OtherVersionOutput(serializers.Serializer[Any]):
    entry = serializers.CharField()
    version = serializers.IntegerField()
    sha256 = serializers.CharField()


class KnownScriptOutput(serializers.Serializer[Any]):
    """The status of a script. Run it only if `verified` is true. The other fields give the reason."""

    sha256 = serializers.CharField()
    standing = serializers.ChoiceField(choices=[one.value for one in ScriptStatus])
    verified = serializers.BooleanField()
    words = serializers.CharField()
    entry = serializers.CharField(allow_null=True)
    title = serializers.CharField(allow_null=True)
    version = serializers.IntegerField(allow_null=True)
    verified_by = serializers.CharField(allow_null=True)
    verified_at = serializers.DateTimeField(allow_null=True)
    superseded_by = OtherVersionOutput(allow_null=True)
    values = serializers.DictField(child=serializers.CharField())
    url = serializers.CharField(allow_null=True)
    answered_at = serializers.DateTimeField()


_HASH = OpenApiParameter("sha256", str, required=True, description="64 hexadecimal digits.")


class VerifyViewSet(viewsets.ViewSet):
    """The current status of a script. Do not cache the response."""

    reading_scope = (READ_SCOPE, AGENT_SCOPE)
    required_scope = (READ_SCOPE, AGENT_SCOPE)

    def initial(self, request: Request, *arguments: Any, **named: Any) -> None:
        """Apply rate limits and the agent pause to token requests. Browser sessions are not limited."""
        super().initial(request, *arguments, **named)
        if request.auth is not None:
            hooks.let_program_ask(signed_in(request), request.auth, outside=_is_outside(request))

    @extend_schema(
        parameters=[_HASH],
        responses=forced_singular_serializer(KnownScriptOutput),  # type: ignore[no-untyped-call]
    )
    def list(self, request: Request) -> Response:
        """Look up a script by the SHA-256 of its exact bytes."""
        access_entries(request.user)
        sha256 = read_query(HashInput, request)["sha256"].lower()
        known = look_up_hash(sha256, outside=_is_outside(request))
        return Response(describe(_within_scope(known, request), request))

    @extend_schema(request=TextInput, responses={200: KnownScriptOutput})
    def create(self, request: Request) -> Response:
        """Look up a script by its text, without storing the text. Scripts with filled-in values are recognized."""
        access_entries(request.user)
        text = read_body(TextInput, request)["text"]
        known = look_up_text(text, outside=_is_outside(request))
        return Response(describe(_within_scope(known, request), request))


class RunnerInput(serializers.Serializer[Any]):
    runner = serializers.ChoiceField(choices=[one.value for one in Runner])


class EntryExportViewSet(viewsets.GenericViewSet[Any]):
    """A mixin for the entry viewset that exports an entry's verified script for runners."""

    @extend_schema(
        parameters=[RunnerInput],
        responses={
            (200, "application/zip"): OpenApiTypes.BINARY,
            (200, "application/yaml"): OpenApiTypes.BINARY,
            (200, "application/json"): OpenApiTypes.OBJECT,
        },
    )
    @action(detail=True, pagination_class=None, filter_backends=[])
    def export(self, request: Request, slug: str) -> HttpResponse:
        """Return the verified script as an Ansible role (.zip), a Rundeck job (YAML) or an AWX survey (JSON)."""
        entry = access_entry(request.user, slug)
        runner = Runner(read_query(RunnerInput, request)["runner"])
        return file_response(export_for(entry, runner, link=partial(site_url, request=request)))


def _is_outside(request: Request) -> bool:
    """Return whether the caller's token can't read the rest of the product, as for agents and pipelines."""
    scopes: list[str] | None = getattr(request.auth, "scopes", None)
    return scopes is not None and READ_SCOPE not in scopes


def _within_scope(known: KnownScript, request: Request) -> KnownScript:
    """Return the status, without its entry if the version is unverified and the caller is external."""
    if known.standing is not ScriptStatus.NOT_VERIFIED or not _is_outside(request):
        return known
    return KnownScript(sha256=known.sha256, standing=known.standing)


def describe(known: KnownScript, request: Request) -> dict[str, object]:
    """Return the script's status in the API's format."""
    version, other = known.version, known.superseded_by
    verifier = version.verified_by if version is not None else None
    said = {
        "sha256": known.sha256,
        "standing": known.standing.value,
        "verified": known.standing is ScriptStatus.VERIFIED,
        "words": _words(known),
        "entry": version.entry.slug if version else None,
        "title": version.entry.title if version else None,
        "version": version.number if version else None,
        "verified_by": name_of(verifier) if verifier else None,
        "verified_at": version.verified_at if version else None,
        "superseded_by": {
            "entry": other.entry.slug,
            "version": other.number,
            "sha256": other.sha256,
        }
        if other
        else None,
        "values": known.values,
        "url": site_url(reverse("entry-detail", args=[version.entry.slug]), request)
        if version
        else None,
        "answered_at": timezone.now(),
    }
    return dict(KnownScriptOutput(said).data)


def _words(known: KnownScript) -> str:
    version, other = known.version, known.superseded_by
    if known.standing is ScriptStatus.NOT_VERIFIED:
        return "not verified yet"
    if version is None:
        return "not verified: this script is not in the catalogue"
    if known.standing is ScriptStatus.VERIFIED:
        return verification_words(version, stands=True)
    if known.standing is ScriptStatus.SUSPENDED:
        return "suspended until a curator has checked it"
    if other is not None:
        return f"no longer verified: replaced by {other.entry.slug} version {other.number}"
    return "no longer verified: deprecated"
