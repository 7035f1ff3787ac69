"""Additions to the API schema: the error responses of each kind of operation and the format of errors."""

from __future__ import annotations

from typing import Any, Literal

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from rest_framework import serializers

from core.web.storable_text import MOST_KEY

Schema = dict[str, Any]
Direction = Literal["request", "response"]

ERROR = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "code": {"type": "string", "description": "Stable error code for programs."},
                "message": {"type": "string", "description": "Error message for users."},
                "field": {
                    "type": "string",
                    "description": "Name of the invalid field. Empty if the error concerns the whole request.",
                },
            },
            "required": ["code", "message", "field"],
            "additionalProperties": False,
        }
    },
    "required": ["error"],
    "additionalProperties": False,
}
EVERY = {
    400: "The request can't be read.",
    401: "The request has no valid session or API token.",
    403: "The user's roles or the token's scopes do not permit this.",
    415: "The content type or encoding of the request is not supported.",
    422: "A value in the request is invalid. `field` names it.",
    429: "Too many requests.",
}
OF_ONE = {404: "Not found."}
THAT_CHANGE = {
    409: "This is not possible in the current state.",
    413: "The request body is too large.",
}
_DIGITS = ("^[0-9]+$", "^[0-9]{1,18}$", r"^\d{1,18}$")
READING = ("GET", "HEAD", "OPTIONS")


class ProductSchema(AutoSchema):
    """drf-spectacular's schema, extended with the errors that each kind of operation can return."""

    def _get_response_bodies(self, direction: Direction = "response") -> Schema:
        responses: Schema = super()._get_response_bodies(direction)
        for status, description in self._errors().items():
            responses.setdefault(
                str(status),
                {
                    "description": description,
                    "content": {"application/json": {"schema": self._error_component().ref}},
                },
            )
        return responses

    def _errors(self) -> dict[int, str]:
        errors = dict(EVERY)
        changes = self.method not in READING
        # A body can refer to a missing object, as a path can.
        if changes or "{" in self.path:
            errors |= OF_ONE
        if changes:
            errors |= THAT_CHANGE
        return dict(sorted(errors.items()))

    def _get_request_body(self, direction: Direction = "request") -> Schema | None:
        method = self.method
        # By default, DELETE has no body in the schema, but here it may have one.
        if method == "DELETE" and isinstance(self.get_request_serializer(), dict):
            self.method = "POST"
        body: Schema | None = super()._get_request_body(direction)  # type: ignore[no-untyped-call]
        self.method = method
        return body

    def _resolve_path_parameters(self, variables: list[str]) -> list[Schema]:
        parameters: list[Schema] = super()._resolve_path_parameters(variables)  # type: ignore[no-untyped-call]
        for parameter in parameters:
            schema = parameter["schema"]
            if schema.get("type") == "integer" or schema.get("pattern", "") in _DIGITS:
                parameter["schema"] = {"type": "integer", "minimum": 1, "maximum": MOST_KEY}
        return parameters

    def _error_component(self) -> ResolvedComponent:
        component = ResolvedComponent(  # type: ignore[no-untyped-call]
            name="Error", type=ResolvedComponent.SCHEMA, schema=ERROR, object="Error"
        )
        self.registry.register_on_missing(component)
        return component

    def _get_serializer_field_meta(self, field: Any, direction: Direction) -> Schema:
        meta: Schema = super()._get_serializer_field_meta(  # type: ignore[no-untyped-call]
            field, direction
        )
        # With `source="owner.username", default=None`, the value is null if there is no owner.
        if (
            isinstance(field, serializers.Field)
            and direction == "response"
            and field.default is None
        ):
            meta["nullable"] = True
        return meta
