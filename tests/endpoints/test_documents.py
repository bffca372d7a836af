"""The published documents of the attach protocol say what the program does."""

import json
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from claw_acp.verify.endpoint.documents import METHODS, documents
from claw_acp.verify.endpoint.vector import STEPS
from claw_acp.verify.endpoint.vectors import VECTORS
from tests.endpoints.programs import FOLDER

README = (FOLDER / "README.md").read_text(encoding="utf-8")
FILES = {method.name: method.file for method in METHODS}
UNSENT = {"future/method", "future/event"}


def check(name: str, value: object) -> None:
    """Raises `ValidationError` unless the value fits a published schema."""
    validator: Any = Draft202012Validator(json.loads(documents()[f"schemas/{name}.json"]))
    validator.validate(value)


@pytest.mark.parametrize("name", documents())
def test_a_published_document_is_what_the_program_would_publish(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == documents()[name]
    if name.startswith("schemas/"):
        Draft202012Validator.check_schema(json.loads(documents()[name]))


def test_nothing_else_is_published() -> None:
    published = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.json") if "programs" not in path.parts}
    assert published == documents().keys()


def test_every_reference_of_the_openrpc_document_leads_somewhere() -> None:
    text = documents()["openrpc.json"]
    document = json.loads(text)
    found = set(re.findall(r'"#/components/schemas/(\w+)"', text))
    assert found <= document["components"]["schemas"].keys()
    assert [method["name"] for method in document["methods"]] == [method.name for method in METHODS]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.id)
def test_what_a_vector_sends_fits_the_schemas(vector: Any) -> None:
    for step in vector.steps:
        message = step.get("send", {})
        if "method" in message and message["method"] not in UNSENT:
            check(f"{FILES[message['method']]}.params", message["params"])
    assert {key for step in vector.steps for key in step} <= STEPS.keys() | {"result", "error", "params"}
    assert vector.id.startswith(f"{vector.role}.")


def test_ids_of_vectors_are_unique() -> None:
    assert len({vector.id for vector in VECTORS}) == len(VECTORS)


@pytest.mark.parametrize("line", re.findall(r"^(?:-> |<- )(\{\"jsonrpc.*\})$", README, re.MULTILINE))
def test_the_examples_of_the_specification_fit_the_schemas(line: str) -> None:
    message = json.loads(line)
    if "method" in message:
        check(f"{FILES[message['method']]}.params", message["params"])
        return
    result = message["result"]
    kind = {
        "protocolVersion": "initialize",
        "registered": "tools-register",
        "content": "tools-call",
        "known": "schedule-fire",
    }
    check(f"{next((kind[key] for key in kind if key in result), 'ping')}.result", result)
