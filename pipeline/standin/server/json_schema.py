"""Make an answer satisfy a JSON schema, as constrained decoding does: the schema always wins."""

from __future__ import annotations

from collections.abc import Mapping

_DEEPEST = 16
_FILLERS: dict[str, object] = {
    "string": "",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "null": None,
}


def conform(schema: Mapping[str, object], wanted: object) -> object:
    """Return a value that satisfies `schema` and keeps the parts of `wanted` that the schema allows.

    Supports const, enum, type, properties, items, minItems, anyOf, oneOf, allOf and local $ref.
    """
    return _conform(schema, wanted, schema, 0)


def _conform(
    schema: Mapping[str, object], wanted: object, root: Mapping[str, object], depth: int
) -> object:
    schema = _resolve(schema, root)
    if "const" in schema:
        return schema["const"]
    options = schema.get("enum")
    if isinstance(options, list) and options:
        return wanted if wanted in options else options[0]
    kind = _pick_type(schema, wanted)
    if depth > _DEEPEST:
        return None
    if kind == "object":
        return _conform_object(schema, wanted, root, depth)
    if kind == "array":
        return _conform_array(schema, wanted, root, depth)
    return wanted if _is_of_type(wanted, kind) else _FILLERS.get(kind)


def _resolve(schema: Mapping[str, object], root: Mapping[str, object]) -> Mapping[str, object]:
    """Follow a local $ref, take the first branch of a choice, and merge the parts of allOf."""
    for _ in range(_DEEPEST):
        reference = schema.get("$ref")
        choice = schema.get("anyOf") or schema.get("oneOf")
        if isinstance(reference, str) and reference.startswith("#/"):
            schema = _follow(root, reference[2:].split("/"))
        elif isinstance(choice, list) and isinstance(choice[0], dict):
            schema = choice[0]
        else:
            break
    parts = schema.get("allOf")
    if not isinstance(parts, list):
        return schema
    merged = dict(schema)
    merged.pop("allOf")
    for part in parts:
        if isinstance(part, dict):
            merged.update(_resolve(part, root))
    return merged


def _follow(root: Mapping[str, object], path: list[str]) -> Mapping[str, object]:
    found: object = root
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _pick_type(schema: Mapping[str, object], wanted: object) -> str:
    declared = schema.get("type")
    names = (
        [str(name) for name in declared]
        if isinstance(declared, list)
        else [str(declared)]
        if declared
        else []
    )
    if not names:
        names = ["object"] if "properties" in schema else ["array"] if "items" in schema else []
    return next((name for name in names if _is_of_type(wanted, name)), names[0] if names else "")


def _is_of_type(value: object, kind: str) -> bool:
    if kind == "string":
        return isinstance(value, str)
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "object":
        return isinstance(value, dict)
    if kind == "array":
        return isinstance(value, list)
    return kind == "" or (kind == "null" and value is None)


def _conform_object(
    schema: Mapping[str, object], wanted: object, root: Mapping[str, object], depth: int
) -> dict[str, object]:
    given = wanted if isinstance(wanted, dict) else {}
    properties = schema.get("properties")
    return {
        name: _conform(part, given.get(name), root, depth + 1)
        for name, part in (properties if isinstance(properties, dict) else {}).items()
        if isinstance(part, dict)
    }


def _conform_array(
    schema: Mapping[str, object], wanted: object, root: Mapping[str, object], depth: int
) -> list[object]:
    items = schema.get("items")
    part: Mapping[str, object] = items if isinstance(items, dict) else {}
    least = schema.get("minItems")
    listed: list[object] = list(wanted) if isinstance(wanted, list) else []
    listed += [None] * ((least if isinstance(least, int) else 0) - len(listed))
    return [_conform(part, item, root, depth + 1) for item in listed]
