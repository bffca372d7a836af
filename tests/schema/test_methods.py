"""The method tables are those of the official schema, and cost nothing to import."""

import subprocess
import sys

import pytest

from claw_acp.schema import methods
from claw_acp.schema.methods import Method, resolve
from claw_acp.schema.validation import reader, wire_fields
from tests.support.judges.official_definitions import OfficialSchema

TABLES = {"agent": methods.AGENT_METHODS, "client": methods.CLIENT_METHODS, "protocol": methods.SHARED_METHODS}
ROWS = [(name, row) for table in TABLES.values() for name, row in table.items()]


def _name(reference: str) -> str:
    return reference.partition(":")[2]


@pytest.mark.parametrize("side", TABLES)
def test_a_table_holds_all_stable_methods_and_others_only_with_their_official_definitions(side: str) -> None:
    ours = {name: (_name(row.params), _name(row.result) if row.result else None) for name, row in TABLES[side].items()}
    official = _official(side, unstable=True)
    assert ours == {method: official.get(method) for method in ours}
    assert set(_official(side, unstable=False)) <= set(ours)


def _official(side: str, *, unstable: bool) -> dict[str, tuple[str, str | None]]:
    schema = OfficialSchema.load(unstable=unstable)
    calls = {**schema.requests, **schema.notifications}
    return {
        method: (name, schema.results.get((side, method))) for (where, method), name in calls.items() if where == side
    }


@pytest.mark.parametrize(("name", "row"), ROWS, ids=lambda part: part if isinstance(part, str) else "")
def test_every_reference_leads_to_a_model_that_can_be_built(name: str, row: Method) -> None:
    for reference in filter(None, (row.params, row.result)):
        model = resolve(reference)
        assert model.__name__ == _name(reference), name
        assert all(reader(field.annotation) for field in wire_fields(model))


def _loaded_by(statement: str) -> set[str]:
    script = f"import sys; {statement}; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_table_loads_no_model() -> None:
    loaded = _loaded_by("import claw_acp.schema.methods")
    assert "pydantic" not in loaded
    assert {name for name in loaded if name.startswith("claw_acp.schema.")} == {"claw_acp.schema.methods"}


def test_opening_a_session_loads_only_the_themes_it_needs() -> None:
    loaded = _loaded_by("from claw_acp.schema.methods import *; resolve(AGENT_METHODS['session/new'].params)")
    assert {name.removeprefix("claw_acp.schema.") for name in loaded if name.startswith("claw_acp.schema.")} == {
        "base",
        "env_variable",
        "content",
        "mcp",
        "methods",
        "session_settings",
        "reading",
        "sessions",
        "system_prompt",
    }
