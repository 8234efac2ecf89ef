"""What a model reads of the tools stays small and flat enough for every client."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from perfcite.server import reference
from perfcite.server.definition import Tool
from perfcite.server.tools import INSTRUCTIONS, TOOLS

FORBIDDEN = {"$ref", "$defs", "anyOf", "oneOf", "allOf", "const", "format", "$schema", "title"}
every_tool = pytest.mark.parametrize("tool", TOOLS, ids=[t.name for t in TOOLS])


def tight(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def read_by_a_model(tool: Tool) -> int:
    return len((tool.name + tool.full_description + tight(tool.schema())).encode())


def keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from keys(item)
    elif isinstance(value, list):
        for item in value:
            yield from keys(item)


def test_all_definitions_together_stay_in_their_budget() -> None:
    assert len(INSTRUCTIONS.encode()) <= 600
    assert len(INSTRUCTIONS.encode()) + sum(map(read_by_a_model, TOOLS)) <= 8_000
    assert sum(read_by_a_model(t) + len(tight(t.output)) for t in TOOLS) <= 16_000


@every_tool
def test_a_definition_is_at_most_a_kilobyte(tool: Tool) -> None:
    assert read_by_a_model(tool) <= 1_000


@every_tool
def test_a_schema_is_flat(tool: Tool) -> None:
    schema = tool.schema()
    assert schema["additionalProperties"] is False
    for name, argument in schema["properties"].items():
        assert not FORBIDDEN & set(keys(argument)), name
        assert argument["type"] in ("string", "number", "integer", "boolean", "array")
        assert argument["description"]
    for name in schema.get("required", []):
        assert "default" not in schema["properties"][name]


@every_tool
def test_an_output_schema_is_one_level_deep(tool: Tool) -> None:
    assert tool.output["type"] == "object"
    for declared in tool.output["properties"].values():
        assert "properties" not in declared


@every_tool
def test_names_and_descriptions_are_portable(tool: Tool) -> None:
    assert tool.name.replace("_", "").isalpha()
    assert tool.name.islower()
    assert len(tool.name) <= 32
    assert "\nAlso for: " in tool.full_description


def test_the_reference_page_is_current() -> None:
    text = reference.PAGE.read_text("utf-8")
    assert text == reference.page(), "run `python -m perfcite.server.reference`"
