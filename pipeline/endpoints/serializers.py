"""Serializers for the endpoint API."""

from __future__ import annotations

from typing import ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from pipeline.clients.endpoint_keys import has_key
from pipeline.endpoints.check_requests import check_state
from pipeline.endpoints.services import edition_of
from pipeline.models import Endpoint, Price

# --- Input --------------------------------------------------------------------------


class EndpointChange(serializers.Serializer[object]):
    """The values to change. Omitted values stay unchanged. The services validate the values."""

    title = serializers.CharField(required=False)
    base_url = serializers.CharField(required=False)
    key_variable = serializers.CharField(
        required=False,
        allow_blank=True,
        help_text="Name of the environment variable that holds the key; never the key.",
    )
    mode = serializers.CharField(required=False, help_text="schema, tool or text.")
    takes_temperature = serializers.BooleanField(required=False)
    has_batches = serializers.BooleanField(required=False)
    treat_as_remote = serializers.BooleanField(
        required=False,
        help_text=(
            "Treat as remote: the address is on this machine but forwards texts. Secrets are masked unless the "
            "requester chooses to send them."
        ),
    )
    max_in_flight = serializers.IntegerField(required=False)
    timeout_seconds = serializers.IntegerField(required=False)
    edition = serializers.IntegerField(
        required=False,
        help_text="The edition on which the change is based. Returns 409 if the endpoint has changed since.",
    )


class EndpointInput(EndpointChange):
    """A new endpoint."""

    name = serializers.CharField()
    title = serializers.CharField()
    base_url = serializers.CharField()


class SwitchOnInput(serializers.Serializer[object]):
    confirmed = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Confirms that requests and scripts may leave this machine and that calls may be billed.",
    )


class CheckInput(serializers.Serializer[object]):
    model = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        help_text="The model to check. Default: a known model of the endpoint.",
    )


class UseModeInput(serializers.Serializer[object]):
    mode = serializers.CharField(help_text="Mode recommended by the last check.")


class PriceInput(serializers.Serializer[object]):
    """A price in micro-dollars per million tokens (1 USD = 1,000,000), valid from a given day."""

    model = serializers.CharField()
    since = serializers.DateField()
    input = serializers.IntegerField()
    output = serializers.IntegerField()
    cache_read = serializers.IntegerField(required=False, default=0)
    cache_write = serializers.IntegerField(required=False, default=0)
    source = serializers.CharField(  # type: ignore[assignment]
        required=False, allow_blank=True, default=""
    )


# --- Output -------------------------------------------------------------------------


class PriceSerializer(serializers.ModelSerializer[Price]):
    """A price in micro-dollars per million tokens."""

    class Meta:
        model = Price
        fields: ClassVar = (
            "id",
            "model",
            "since",
            "input",
            "output",
            "cache_read",
            "cache_write",
            "source",
        )


class ModeFoundSerializer(serializers.Serializer[object]):
    mode = serializers.CharField()
    outcome = serializers.CharField(
        help_text="real, ignored, refused, unclear, failed or not_asked."
    )
    detail = serializers.CharField()
    milliseconds = serializers.IntegerField(allow_null=True)
    http_status = serializers.IntegerField(allow_null=True)


class CheckSerializer(serializers.Serializer[object]):
    """The findings of the last check. Fields for steps that the check did not reach are omitted."""

    state = serializers.CharField(help_text="never, waiting, running, lost or done.")
    checked_at = serializers.DateTimeField(allow_null=True)
    reachable = serializers.BooleanField(required=False)
    key = serializers.CharField(required=False, help_text="accepted, refused or unknown.")
    worker_has_key = serializers.BooleanField(required=False, allow_null=True)
    models = serializers.ListField(child=serializers.CharField(), required=False)
    model = serializers.CharField(required=False)
    modes = ModeFoundSerializer(many=True, required=False)
    recommended = serializers.CharField(required=False, allow_null=True)
    batches = serializers.CharField(required=False, help_text="yes, no or unknown.")
    count_tokens = serializers.CharField(required=False)
    calls = serializers.IntegerField(required=False)
    problem = serializers.CharField(required=False)


class EndpointSerializer(serializers.ModelSerializer[Endpoint]):
    """A Messages API server. The response contains the key's variable, never the key."""

    mode = serializers.CharField()
    is_on = serializers.BooleanField()
    has_key = serializers.SerializerMethodField()
    prices = PriceSerializer(many=True)
    edition = serializers.SerializerMethodField()
    check = serializers.SerializerMethodField()

    class Meta:
        model = Endpoint
        fields: ClassVar = (
            "name",
            "title",
            "base_url",
            "key_variable",
            "has_key",
            "mode",
            "is_on",
            "demo",
            "takes_temperature",
            "has_batches",
            "treat_as_remote",
            "max_in_flight",
            "timeout_seconds",
            "blocked_until",
            "blocked_why",
            "probed_at",
            "edition",
            "check",
            "prices",
        )

    def get_has_key(self, endpoint: Endpoint) -> bool:
        return has_key(endpoint)

    def get_edition(self, endpoint: Endpoint) -> int:
        return edition_of(endpoint)

    @extend_schema_field(CheckSerializer)
    def get_check(self, endpoint: Endpoint) -> dict[str, object]:
        return show_check(endpoint)


def show_check(endpoint: Endpoint) -> dict[str, object]:
    """Return the last check and its state, for the API."""
    found = {**endpoint.probe, "state": check_state(endpoint), "checked_at": endpoint.probed_at}
    known = CheckSerializer().fields.keys()
    return dict(
        CheckSerializer({name: value for name, value in found.items() if name in known}).data
    )
