"""The published documents say what the program does."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from claw_acp.cli.main import main
from claw_acp.core.plugin_errors import CANCELLED, PLUGIN_ERRORS
from claw_acp.verify.pattern import PATTERNS, mismatch
from claw_acp.verify.provider.documents import documents
from claw_acp.verify.provider.vector import STEPS
from claw_acp.verify.provider.vectors import VECTORS
from tests.provider_protocol.plugins import PLUGINS

FOLDER = PLUGINS.parent
README = (FOLDER / "README.md").read_text(encoding="utf-8")
BROKEN_ON_PURPOSE = {"session.invalid-params", "session.no-messages"}


def check(name: str, value: object) -> None:
    """Raises `ValidationError` unless the value fits a published schema."""
    validator: Any = Draft202012Validator(json.loads(documents()[f"schemas/{name}.json"]))
    validator.validate(value)


@pytest.mark.parametrize("name", documents())
def test_a_published_document_is_what_the_program_would_publish(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == documents()[name]


def test_nothing_else_is_published() -> None:
    published = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.json") if "plugins" not in path.parts}
    assert published == documents().keys()


def test_the_documents_can_be_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "export", str(tmp_path)]) == 0
    exported = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.json")}
    assert {path for path in exported if path.startswith("provider/")} == {f"provider/{name}" for name in documents()}
    assert capsys.readouterr().out.count("\n") == len(exported)


@pytest.mark.parametrize("name", [name for name in documents() if name.startswith("schemas/")])
def test_a_schema_is_a_schema(name: str) -> None:
    Draft202012Validator.check_schema(json.loads(documents()[name]))


def test_every_reference_of_the_openrpc_document_leads_somewhere() -> None:
    document = json.loads(documents()["openrpc.json"])
    found = set(re.findall(r'"#/components/schemas/(\w+)"', documents()["openrpc.json"]))
    assert found <= document["components"]["schemas"].keys()
    assert [method["name"] for method in document["methods"]] == [
        "initialize", "chat", "models/list", "shutdown", "chat/delta", "$/cancel_request",
    ]  # fmt: skip


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.id)
def test_what_a_vector_sends_fits_the_schemas(vector: Any) -> None:
    for step in vector.steps:
        message = step.get("send", {})
        name = {"initialize": "initialize", "chat": "chat", "$/cancel_request": "cancel-request"}.get(
            message.get("method")
        )
        if name is not None and vector.id not in BROKEN_ON_PURPOSE:
            check(f"{name}.params", message["params"])
    assert {key for step in vector.steps for key in step} <= STEPS.keys() | {"result", "error", "pad"}


def test_ids_of_vectors_are_unique_and_begin_with_their_mode() -> None:
    assert len({vector.id for vector in VECTORS}) == len(VECTORS)
    assert all(vector.id.startswith(f"{vector.mode}.") for vector in VECTORS)


def test_the_specification_names_every_error() -> None:
    for error in PLUGIN_ERRORS:
        assert f"| {error.code} | {error.name} |" in README
    assert f"| {CANCELLED} | cancelled |" in README


@pytest.mark.parametrize("line", re.findall(r"^(?:-> |<- )?(\{\"jsonrpc.*\})$", README, re.MULTILINE))
def test_the_examples_of_the_specification_fit_the_schemas(line: str) -> None:
    message = json.loads(line.replace("[...]", '[{"role":"user","content":"Hi"}]'))
    if "method" in message:
        name = message["method"].replace("/", "-")
        check(f"{name}.params", message["params"])
    else:
        result = message["result"]
        kind = "initialize" if "protocolVersion" in result else "chat"
        check(f"{kind}.result", result)


@pytest.mark.parametrize(
    ("pattern", "value", "trouble"),
    [
        ({"a": "$text"}, {"a": "x", "b": 1}, None),
        ({"a": "$text"}, {"a": ""}, "a is '' and not a string that is not empty"),
        ({"a": 1}, {"a": True}, "a is True and not 1"),
        ({"a": "$integer"}, {"a": True}, "a is True and not an integer"),
        ({"a": "$boolean"}, {"a": True}, None),
        ({"a": [{"b": 1}]}, {"a": [{"b": 1, "c": 2}]}, None),
        ({"a": [1]}, {"a": [1, 2]}, "a is no array of 1"),
        ({"a": {"b": 1}}, {"a": {}}, "a has no b"),
        ({"a": 1}, [], "it is no object"),
        ("$any", None, None),
    ],
)
def test_a_pattern_describes_a_value(pattern: Any, value: Any, trouble: str | None) -> None:
    assert mismatch(pattern, value) == trouble
    assert set(PATTERNS) >= {"$text", "$any"}
