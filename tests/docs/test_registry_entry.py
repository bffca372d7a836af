"""The entry for the registry of agents, by the registry's rules, and what it does with it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from claw_acp.core.version import VERSION
from tests.docs.pages import ROOT, pyproject

FOLDER = ROOT / "editor-clients" / "registry"
AGENT: dict[str, Any] = json.loads((FOLDER / "agent.json").read_text(encoding="utf-8"))
KNOWN = {
    "id", "name", "version", "description", "distribution",
    "repository", "website", "authors", "license", "icon", "preview",
}  # fmt: skip
COLOURS = {"currentColor", "none", "inherit"}
PATIENCE = 20.0  # seconds; the registry waits for sixty
REGISTRY_ASKS: dict[str, Any] = {
    "protocolVersion": 1,
    "clientInfo": {"name": "registry", "version": "1"},
    "clientCapabilities": {
        "fs": {"readTextFile": True, "writeTextFile": True},
        "terminal": True,
        "_meta": {"terminal_output": True, "terminal-auth": True},
    },
}


def test_the_entry_has_what_is_required_and_nothing_unknown() -> None:
    assert {"id", "name", "version", "description", "distribution"} <= set(AGENT) <= KNOWN
    assert re.fullmatch(r"[a-z][a-z0-9-]*", AGENT["id"])
    assert (AGENT["id"], AGENT["license"]) == (pyproject()["project"]["name"], pyproject()["project"]["license"])
    assert (FOLDER / AGENT["icon"]).is_file()


def test_the_version_is_ours_and_pinned() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", AGENT["version"])
    assert AGENT["version"] == VERSION
    [(kind, distribution)] = AGENT["distribution"].items()
    assert (kind, distribution["package"]) == ("uvx", f"claw-acp=={VERSION}")
    assert "claw-acp" in pyproject()["project"]["scripts"]  # what `uvx PACKAGE` runs


def test_the_icon_is_small_square_and_takes_the_colour_of_its_place() -> None:
    icon = ElementTree.parse(FOLDER / "icon.svg").getroot()
    assert (icon.get("width"), icon.get("height"), icon.get("viewBox")) == ("16", "16", "0 0 16 16")
    parts = list(icon.iter())
    assert {part.tag.rpartition("}")[2] for part in parts} <= {"svg", "path", "g", "circle", "rect"}
    colours = {part.get(name) for part in parts for name in ("fill", "stroke")} - {None}
    assert "currentColor" in colours
    assert colours <= COLOURS
    assert not any(part.get("style") for part in parts)


def test_the_first_line_in_an_empty_home_is_the_answer_with_a_way_to_log_in(tmp_path: Path) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": REGISTRY_ASKS}
    program = subprocess.Popen(
        [sys.executable, "-m", "claw_acp"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TERM": "dumb"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with program:
        assert program.stdin is not None
        assert program.stdout is not None
        assert program.stderr is not None
        program.stdin.write(json.dumps(asked).encode() + b"\n")
        program.stdin.flush()
        answer = json.loads(program.stdout.readline())
        program.stdin.close()
        rest = program.stdout.read(), program.stderr.read()
        assert (program.wait(PATIENCE), rest) == (0, (b"", b""))
    assert (answer["id"], answer["result"]["protocolVersion"]) == (1, 1)
    methods = answer["result"]["authMethods"]
    assert any(method.get("type", "agent") in {"agent", "terminal"} for method in methods)
