"""Tests for parts of the API schema that generated calls cannot check."""

from __future__ import annotations

from typing import Any

import pytest
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator

JSON = "application/json"


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    GENERATOR_STATS.reset()
    found: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    assert not GENERATOR_STATS, "drf-spectacular has nothing to warn of"
    return found


def answered(schema: dict[str, Any], path: str, method: str = "get", status: int = 200) -> Any:
    return schema["paths"][f"/api/v1/{path}"][method]["responses"][str(status)]["content"]


def test_every_operation_declares_the_errors_of_its_kind(schema: dict[str, Any]) -> None:
    error = {"$ref": "#/components/schemas/Error"}
    for path, found in schema["paths"].items():
        for method, operation in found.items():
            expected = {"400", "401", "403", "415", "422", "429"}
            if method != "get":
                expected |= {"404", "409", "413"}
            elif "{" in path:
                expected |= {"404"}
            errors = {code: said for code, said in operation["responses"].items() if code > "300"}
            assert errors.keys() == expected, (method, path)
            for said in errors.values():
                assert said["content"][JSON]["schema"] == error
    assert schema["components"]["schemas"]["Error"]["required"] == ["error"]


def test_answers_have_their_shapes(schema: dict[str, Any]) -> None:
    shapes = {
        "spending/": {"$ref": "#/components/schemas/Spending"},
        "calibration/": {"$ref": "#/components/schemas/CalibrationOutput"},
        "entries/{slug}/history/": {
            "type": "array",
            "items": {"$ref": "#/components/schemas/EventOutput"},
        },
    }
    assert {path: answered(schema, path)[JSON]["schema"] for path in shapes} == shapes


def test_files_are_of_their_kinds(schema: dict[str, Any]) -> None:
    assert answered(schema, "catalogue-export/").keys() == {
        "application/x-ndjson",
        "text/csv",
        "application/zip",
    }
    assert answered(schema, "transfers/{id}/file/").keys() == {"application/octet-stream"}


def test_success_has_its_status(schema: dict[str, Any]) -> None:
    for path, method, status in (
        ("retrieve/", "post", "200"),
        ("versions/{id}/use/", "post", "201"),
        ("entries/{slug}/phrasings/", "delete", "200"),
    ):
        codes = schema["paths"][f"/api/v1/{path}"][method]["responses"]
        assert [code for code in codes if code < "300"] == [status], path


def test_what_is_taken_away_is_named_in_the_body(schema: dict[str, Any]) -> None:
    taken = schema["paths"]["/api/v1/entries/{slug}/phrasings/"]["delete"]
    assert JSON in taken["requestBody"]["content"]


def test_optional_values_are_nullable(schema: dict[str, Any]) -> None:
    components = {
        "Listed": ("owner", "suspended_at"),
        "Version": ("author", "owner", "verified_by", "verified_at"),
        "Run": ("asked_by", "configuration", "finished_at"),
        "Entry": ("merged_into", "suspended_at"),
        "Draft": ("author", "made_from"),
    }
    for component, names in components.items():
        properties = schema["components"]["schemas"][component]["properties"]
        assert all(properties[name]["nullable"] is True for name in names), component


def test_a_key_in_an_address_is_a_number_that_a_row_can_have(schema: dict[str, Any]) -> None:
    for path, found in schema["paths"].items():
        for operation in found.values():
            for parameter in operation.get("parameters", []):
                if parameter["in"] == "path" and parameter["name"] == "id":
                    assert parameter["schema"] == {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 2**63 - 1,
                    }, path
