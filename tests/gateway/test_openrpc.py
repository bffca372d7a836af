"""The published document of the control interface."""

from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from claw_acp.gateway.access.scope import SCOPES
from claw_acp.gateway.control.methods import METHODS
from claw_acp.gateway.control.openrpc import document_text
from tests.gateway.test_control import control_of
from tests.support.servers.remote_server import RemoteServer

FOLDER = Path(__file__).parents[2] / "protocol-schemas" / "control"


def test_the_published_document_is_what_the_program_would_publish() -> None:
    assert (FOLDER / "openrpc.json").read_text(encoding="utf-8") == document_text(METHODS)


def test_every_scope_is_explained() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(f"| `{scope}` |" in text for scope in SCOPES)


async def test_a_server_describes_itself_and_answers_as_described(shared: RemoteServer) -> None:
    async with control_of(shared) as control:
        document: Any = await control.ask("rpc.discover")
        assert [method["name"] for method in document["methods"]] == list(METHODS)
        results = {method["name"]: method["result"]["schema"] for method in document["methods"]}
        for name in ("hub/status", "hub/health", "sessions/list", "permissions/list", "schedules/list"):
            schema = {**results[name], "components": document["components"]}
            validator: Any = Draft202012Validator(schema)
            validator.validate(await control.ask(name))
