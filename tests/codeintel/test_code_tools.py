"""Tools that ask real language servers about code, and change it by them."""

from pathlib import Path

import pytest

from claw_acp.core.errors import ToolError
from claw_acp.tools.code.edits import edited, edits_in
from claw_acp.tools.code.positions import position_of
from tests.codeintel.conftest import Machine
from tests.support.editors.editor import FULL
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import shown_text
from tests.support.foreign.node import foreign_modules
from tests.support.script_files import Script, call, expect, say, turn

LIBRARY = "def half(number: int) -> int:\n    '''Half of it.'''\n    return number // 2\n"
USER = "from shapes import half\n\nWIDTH = '🦀🦀'; SIZE = half(4)\n"


def write(project: Path) -> None:
    """A project of two files."""
    (project / "shapes.py").write_text(LIBRARY)
    (project / "user.py").write_text(USER)


async def test_a_name_is_found_described_and_listed(opened: Spawn, project: Path, machine: Machine) -> None:
    write(project)
    half = {"path": "user.py", "line": 3, "name": "half"}
    script = Script(
        turn(call("find_definition", **half), call("find_references", **half), call("hover", **half)),
        turn(call("list_symbols", path="shapes.py"), call("file_problems", path="user.py")),
        turn(
            call("find_references", path="user.py", line=1, name="SIZE"),
            call("hover", path="notes.txt", line=1, name="x"),
        ),
        turn(say("done")),
    )
    async with opened(script=script, env=machine("pyright-langserver")) as editor:
        outcome = await editor.prompt("go")
    definition, uses, hover, names, problems, elsewhere, no_server = map(shown_text, outcome.calls)
    assert "shapes.py:1: def half(number: int) -> int:" in definition
    lines = [line for line in uses.splitlines() if ":" in line]
    assert lines == [
        "shapes.py:1: def half(number: int) -> int:",
        "user.py:1: from shapes import half",
        "user.py:3: WIDTH = '🦀🦀'; SIZE = half(4)",
    ]
    assert "def half(number: int) -> int" in hover
    assert "Half of it." in hover
    assert "1 function half" in names
    assert "pyright-langserver finds no problems in user.py." in problems
    assert "`SIZE` is not in line 1 of user.py, which reads `from shapes import half`; it is in line 3" in elsewhere
    assert "no language server for .txt files" in no_server
    assert outcome.calls[0]["locations"] == [{"path": str(project / "shapes.py"), "line": 1}]


async def test_renaming_asks_once_for_all_files_sees_unsaved_text_and_is_undone(
    opened: Spawn, project: Path, machine: Machine
) -> None:
    write(project)
    unsaved = f"# typed\n{USER}"
    renaming = call("rename_symbol", path="shapes.py", line=1, name="half", new_name="halved")
    script = Script(turn(renaming), turn(say("done")), loop=True)
    environment = machine("pyright-langserver", repair="off")
    async with opened(script=script, capabilities=FULL, env=environment) as editor:
        editor.files.buffers[str(project / "user.py")] = unsaved
        editor.will_answer("allow_once")
        outcome = await editor.prompt("go")
        assert [each["path"] for each in outcome.calls[0]["content"]] == [
            str(project / name) for name in ("shapes.py", "user.py")
        ]
        (question,) = editor.received("session/request_permission")
        assert str(project / "user.py") in str(question)
        assert (project / "shapes.py").read_text() == LIBRARY.replace("half(", "halved(")
        assert editor.files.buffers[str(project / "user.py")] == unsaved.replace(
            "import half", "import halved"
        ).replace("half(4)", "halved(4)")
        await editor.prompt("/undo")
        assert (project / "shapes.py").read_text() == LIBRARY
        assert editor.files.buffers[str(project / "user.py")] == unsaved


async def test_uses_in_files_that_the_server_did_not_know_are_found_and_renamed(
    opened: Spawn, project: Path, machine: Machine
) -> None:
    files = {
        "a.h": "int half(int n);\r\n",
        "a.cpp": '#include "a.h"\nint half(int n) { return n / 2; }\n',
        "b.cpp": '#include "a.h"\nint x() { return half(4); }\n// half of it\n',
    }
    for name, text in files.items():
        (project / name).write_text(text, newline="")
    place = {"path": "a.cpp", "line": 2, "name": "half"}
    script = Script(
        turn(call("find_references", **place), call("rename_symbol", **place, new_name="halved")),
        turn(expect("It still stands in b.cpp:3: see"), say("done")),
    )
    environment = machine("clangd", repair="off")
    async with opened(script=script, config='mode = "edit"', env=environment) as editor:
        outcome = await editor.prompt("go")
    for each in ("a.cpp:2", "a.h:1", "b.cpp:2"):
        assert each in shown_text(outcome.calls[0])
    assert outcome.calls[1]["status"] == "completed"
    for name, text in files.items():
        assert (project / name).read_bytes().decode() == text.replace("half(", "halved(")


async def test_a_rule_about_one_file_stops_the_whole_renaming(opened: Spawn, project: Path, machine: Machine) -> None:
    write(project)
    renaming = call("rename_symbol", path="shapes.py", line=1, name="half", new_name="halved")
    config = 'mode = "auto"\npermissions.deny = ["write(user.py)"]'
    async with opened(
        script=Script(turn(renaming), turn(say("done"))), config=config, env=machine("pyright-langserver")
    ) as editor:
        outcome = await editor.prompt("go")
    assert outcome.calls[0]["status"] == "failed"
    assert "write(user.py)" in shown_text(outcome.calls[0])
    assert ((project / "shapes.py").read_text(), (project / "user.py").read_text()) == (LIBRARY, USER)


async def test_a_server_that_runs_code_of_the_project_is_asked_about_before_it_starts(
    opened: Spawn, project: Path, machine: Machine
) -> None:
    (project / "a.ts").write_text("export function half(n: number) { return n / 2; }\nhalf(4);\n")
    (project / "tsconfig.json").write_text("{}")
    (project / "node_modules").symlink_to(foreign_modules())
    renaming = call("rename_symbol", path="a.ts", line=2, name="half", new_name="halved")
    script = Script(turn(renaming), turn(expect("call rename_symbol again"), renaming), turn(say("done")))
    environment = machine("node", str(foreign_modules() / ".bin/typescript-language-server"), repair="off")
    async with opened(script=script, config='mode = "edit"', env=environment) as editor:
        editor.will_answer("allow_once")
        outcome = await editor.prompt("go")
        (question,) = editor.received("session/request_permission")
    assert "plugins that tsconfig.json names" in str(question)
    assert [each["status"] for each in outcome.calls] == ["failed", "completed"]
    assert (project / "a.ts").read_text() == "export function halved(n: number) { return n / 2; }\nhalved(4);\n"


def _edit(start: tuple[int, int], end: tuple[int, int], text: str) -> dict[str, object]:
    places = {
        name: {"line": line, "character": character} for name, (line, character) in {"start": start, "end": end}.items()
    }
    return {"range": places, "newText": text}


def _changes(*edits: dict[str, object]) -> object:
    return {"changes": {"file:///p/a%20b.py": list(edits)}}


@pytest.mark.parametrize(
    ("text", "edits", "after"),
    [
        ("a🦀b\nc", [_edit((0, 3), (0, 4), "B"), _edit((1, 0), (1, 1), "C")], "a🦀B\nC"),
        ("a\r\nb", [_edit((1, 0), (1, 1), "x")], "a\r\nx"),
        ("a\u2028b\nc", [_edit((1, 0), (1, 1), "x")], "a\u2028b\nx"),
        ("ab", [_edit((0, 2), (0, 2), "!"), _edit((0, 0), (0, 1), "")], "b!"),
        ("a\n", [_edit((1, 0), (1, 0), "end")], "a\nend"),
    ],
)
def test_edits_land_where_the_server_means_them(text: str, edits: list[dict[str, object]], after: str) -> None:
    (found,) = edits_in(_changes(*edits)).items()  # type: ignore[arg-type]
    assert found[0] == Path("/p/a b.py")
    assert edited(text, found[1]) == after


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        ([_edit((0, 0), (0, 2), "x"), _edit((0, 1), (0, 3), "y")], "overlap"),
        ([_edit((0, 2), (0, 1), "x")], "overlap"),
        ([_edit((7, 0), (7, 1), "x")], "line that is not there"),
        ([_edit((0, 0), (0, 99), "x")], "column that is not there"),
        ([_edit((0, -1), (0, -5), "x")], "not there"),
        ([{"newText": "x"}], "without a place"),
        ([{**_edit((0, 0), (0, 1), "x"), "newText": 7}], "without a text"),
    ],
)
def test_edits_that_do_not_fit_change_nothing(edits: list[dict[str, object]], reason: str) -> None:
    with pytest.raises(ToolError, match=reason):
        edited("abcd", next(iter(edits_in(_changes(*edits)).values())))  # type: ignore[arg-type]


def test_a_server_that_would_move_files_is_refused() -> None:
    with pytest.raises(ToolError, match="move or delete"):
        edits_in({"documentChanges": [{"kind": "rename", "oldUri": "file:///a", "newUri": "file:///b"}]})


def test_a_whole_name_is_meant_before_a_part_of_one() -> None:
    position = position_of("size", line=1, text="resize = 🦀, size\n", shown="a.py")
    assert position == {"line": 0, "character": 13}
