"""A turn that brings an error into a file does not end before the model has heard of it. The servers are real."""

from pathlib import Path

from tests.codeintel.conftest import Machine
from tests.support.editors.editor_fixtures import Spawn
from tests.support.script_files import Script, call, expect, say, turn

BROKEN = "def double(number: int) -> str:\n    return number * 2\n"
WHOLE = "def double(number: int) -> int:\n    return number * 2\n"


async def test_a_type_error_is_mended_before_the_turn_ends(opened: Spawn, project: Path, machine: Machine) -> None:
    script = Script(
        turn(call("write_file", path="a.py", content=BROKEN)),
        turn(say("done")),
        turn(
            expect('a.py:2:12 error reportReturnType Type "int" is not assignable'),
            call("write_file", path="a.py", content=WHOLE),
        ),
        turn(say("mended")),
    )
    async with opened(script=script, config='mode = "edit"', env=machine("pyright-langserver")) as editor:
        outcome = await editor.prompt("go")
        print(outcome.calls)
        assert (outcome.stop_reason, outcome.text) == ("end_turn", "donemended")
        assert [tool["title"] for tool in outcome.calls if tool["status"] == "failed"] == [
            "Problems in what was changed"
        ]
