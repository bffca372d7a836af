"""The file of "always" answers."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.core.errors import ConfigError
from claw_acp.security.permission_store import PermissionStore

PROJECT = Path('/homes/ada/my "project" [1] ü')


@pytest.fixture
def store(tmp_path: Path) -> PermissionStore:
    return PermissionStore(tmp_path / "state" / "permissions.toml")


def texts(store: PermissionStore, project: Path = PROJECT) -> list[tuple[str, str]]:
    return [(rule.verdict, rule.text) for rule in store.rules(project)]


def test_without_a_file_there_are_no_rules_and_no_file_is_made(store: PermissionStore) -> None:
    assert (store.rules(PROJECT), store.findings(), store.path.exists()) == ((), (), False)


def test_an_answer_is_there_for_this_project_in_the_next_process(store: PermissionStore) -> None:
    store.remember(PROJECT, ["shell(npm test)", "write(/a\\*b.py)"], answer="allow")
    store.remember(PROJECT, ["fetch(x.org)"], answer="deny")
    wanted = [("deny", "fetch(x.org)"), ("allow", "shell(npm test)"), ("allow", "write(/a\\*b.py)")]
    assert texts(PermissionStore(store.path)) == wanted
    assert texts(store) == wanted
    assert texts(store, Path("/elsewhere")) == []


def test_every_form_of_a_rule_is_written_and_read_back(store: PermissionStore) -> None:
    forms = ["shell(cd 'a b' && make -s)", "shell(docker ps *)", "shell(X=1 './run it')", "fetch(private wiki.lan)"]
    store.remember(PROJECT, forms, answer="allow")
    assert texts(PermissionStore(store.path)) == [("allow", form) for form in forms]


def test_a_tool_of_a_server_is_kept_with_its_digest_until_its_answer_is_revoked(store: PermissionStore) -> None:
    store.remember_tool(PROJECT, "raw__echo", digest="a1")
    store.remember_tool(PROJECT, "raw__echo", digest="b2")
    store.remember(PROJECT, ["raw__echo"], answer="allow")
    known = PermissionStore(store.path)
    assert (known.tools(PROJECT), known.tools(Path("/elsewhere"))) == ({"raw__echo": "b2"}, {})
    assert (texts(known), known.findings()) == ([("allow", "raw__echo")], ())
    store.forget(PROJECT, "raw__echo")
    assert (store.tools(PROJECT), texts(store)) == ({}, [])


def test_only_its_owner_can_read_the_file(store: PermissionStore) -> None:
    store.remember(PROJECT, ["shell(ls)"], answer="allow")
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700


def test_the_newer_answer_replaces_the_older(store: PermissionStore) -> None:
    store.remember(PROJECT, ["shell(ls)"], answer="allow")
    store.remember(PROJECT, ["shell(ls)"], answer="deny")
    store.remember(PROJECT, ["shell(ls)"], answer="deny")
    assert texts(store) == [("deny", "shell(ls)")]


def test_a_forgotten_rule_is_gone(store: PermissionStore) -> None:
    store.remember(PROJECT, ["shell(a)", "shell(b)"], answer="allow")
    store.forget(PROJECT, "shell(a)")
    assert texts(store) == [("allow", "shell(b)")]
    store.forget(PROJECT, "shell(b)")
    assert str(PROJECT) not in store.path.read_text()


def test_a_change_made_by_hand_is_seen_at_the_next_question(store: PermissionStore) -> None:
    store.remember(PROJECT, ["shell(ls)"], answer="allow")
    assert texts(store) == [("allow", "shell(ls)")]
    store.path.write_text(store.path.read_text().replace("shell(ls)", "shell(pwd -P)"))
    assert texts(store) == [("allow", "shell(pwd -P)")]
    store.path.unlink()
    assert texts(store) == []


def test_a_broken_file_grants_nothing_is_reported_and_is_kept(store: PermissionStore) -> None:
    store.path.parent.mkdir()
    store.path.write_text("[broken\nallow = ['shell(precious)']")
    assert texts(store) == []
    assert "every action is asked about" in store.findings()[0]
    store.remember(PROJECT, ["shell(ls)"], answer="allow")
    assert texts(store) == [("allow", "shell(ls)")]
    assert store.findings() == ()
    kept = store.path.with_name("permissions.toml.broken-1")
    assert "precious" in kept.read_text()


def test_a_second_broken_file_does_not_replace_the_first(store: PermissionStore) -> None:
    store.path.parent.mkdir()
    for number in (1, 2):
        store.path.write_text(f"broken {number}")
        store.remember(PROJECT, ["shell(ls)"], answer="allow")
    assert store.path.with_name("permissions.toml.broken-1").read_text() == "broken 1"
    assert store.path.with_name("permissions.toml.broken-2").read_text() == "broken 2"


def test_one_bad_line_leaves_the_others_in_force(store: PermissionStore) -> None:
    store.path.parent.mkdir()
    store.path.write_text('["/p"]\nallow = ["shell(ls)", "shell(", 3]\ndeny = "shell(rm)"\n["/q"]\nallow = 5\n[x]\n')
    assert texts(store, Path("/p")) == [("deny", "shell(rm)"), ("allow", "shell(ls)")]
    findings = "\n".join(store.findings())
    assert "not a permission rule" in findings
    assert "not a text" in findings


def test_what_is_not_a_rule_is_not_stored(store: PermissionStore) -> None:
    with pytest.raises(ConfigError):
        store.remember(PROJECT, ["shell("], answer="allow")
    assert not store.path.exists()


def test_a_place_that_cannot_be_written_is_said_plainly(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="could not be stored"):
        PermissionStore(tmp_path / "file" / "permissions.toml").remember(PROJECT, ["shell(ls)"], answer="allow")


def test_processes_that_store_at_once_do_not_lose_each_others_rules(store: PermissionStore) -> None:
    code = """
import sys
from pathlib import Path
from claw_acp.security.permission_store import PermissionStore
for n in range(10):
    PermissionStore(Path(sys.argv[1])).remember(Path("/p"), [f"shell(t{sys.argv[2]} {n})"], answer="allow")
"""
    children = [
        subprocess.Popen([sys.executable, "-c", code, str(store.path), str(n)], env=os.environ) for n in range(3)
    ]
    assert [child.wait() for child in children] == [0, 0, 0]
    assert len(texts(store, Path("/p"))) == 30
    assert sorted(path.name for path in store.path.parent.iterdir()) == [".permissions.toml.lock", "permissions.toml"]


@given(project=st.text(min_size=1, max_size=20), word=st.text(min_size=1, max_size=20))
def test_any_name_survives_the_file(tmp_path_factory: pytest.TempPathFactory, project: str, word: str) -> None:
    store = PermissionStore(tmp_path_factory.getbasetemp() / "any" / "permissions.toml")
    rule = "shell('" + word.replace("'", "") + "')"
    try:
        store.remember(Path(project), [rule], answer="allow")
    except ConfigError:
        return
    assert ("allow", rule) in texts(PermissionStore(store.path), Path(project))
