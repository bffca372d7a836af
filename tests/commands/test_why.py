"""`/why`: what was refused, tried again or switched last, and what decided it; also from the journal."""

from pathlib import Path

import pytest

from claw_acp.commands.why import NOTHING, last_of_each
from claw_acp.core.events import CompactionChanged, Event, Notice, StateChanged, ToolCallChanged
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import RpcFailure
from tests.support.script_files import Script, call, fail, say, turn

READ = turn(call("read_file", path="a.txt"))


async def test_a_refusal_names_the_rule_and_the_line_that_holds_it(opened: Spawn, spawn: Spawn, home: Path) -> None:
    script = Script(turn(call("shell", command="rm -r build")), turn(say("a pity")))
    config = '[permissions]\ndeny = ["shell(rm)"]\n'
    async with opened(script=script, config=config) as editor:
        assert (await editor.prompt("/why")).text == NOTHING
        await editor.prompt("go")
        told = (await editor.prompt("/why")).text
        assert told.startswith("**Last refusal:** `rm -r build` was not run.\n")
        assert "`shell(rm)`" in told
        line = (home / "claw" / "config.toml").read_text().split("\n").index('deny = ["shell(rm)"]') + 1
        assert f"config.toml:{line}" in told
        session = editor.session
    async with spawn(script=script) as other:
        await other.initialize()
        await other.load(session)
        assert (await other.prompt("/why", session=session)).text == told


@pytest.mark.parametrize(
    ("mode", "step", "words"),
    [
        ("plan", call("write_file", path="a.txt", content="x"), "No rule of yours decided this, but the mode"),
        ("ask", call("read_file", path="/etc/shadow"), "built-in protection"),
        ("ask", call("write_file", path="new.txt", content="x"), "A question was due, because: It writes"),
    ],
    ids=["mode", "protection", "person"],
)
async def test_a_refusal_without_a_rule_says_what_decided_instead(
    opened: Spawn, mode: str, step: dict[str, object], words: str
) -> None:
    async with opened(script=Script(turn(step), turn(say("a pity"))), config=f'mode = "{mode}"') as editor:
        editor.will_answer("reject_once")
        await editor.prompt("go")
        assert words in (await editor.prompt("/why")).text


async def test_a_turn_that_went_round_in_circles_is_explained(opened: Spawn) -> None:
    async with opened(script=Script(READ, loop=True)) as editor:
        await editor.prompt("go")
        told = (await editor.prompt("/why")).text
        assert [line for line in told.split("\n") if line.startswith("**")] == [
            "**Last turn that was stopped:** The turn was stopped, because it went round in circles.",
            "**Last refusal:** `Read a.txt` was not run.",
        ]


async def test_a_limit_and_a_failure_are_explained(opened: Spawn) -> None:
    script = Script(READ, turn(say("half")), turn(fail("RequestRejected", message="no such thing")))
    async with opened(script=script, config="[limits]\nmax_turn_requests = 1\n") as editor:
        await editor.prompt("go")
        told = (await editor.prompt("/why")).text
        assert told.startswith("**Last limit:** The turn ends at its limit of 1 model requests.\n`[limits]`")
        with pytest.raises(RpcFailure, match="no such thing"):
            await editor.prompt("again")
        told = (await editor.prompt("/why")).text
        assert told.startswith("**Last failure:** `")
        assert "no such thing" in told.split("\n")[0]


def test_the_last_of_each_kind_is_told_the_newest_first() -> None:
    events: list[Event] = [
        ToolCallChanged(item="a", title="Old"),
        ToolCallChanged(item="b", title="New"),
        ToolCallChanged(item="b", status="failed", refusal="a rule"),
        Notice(severity="warning", title="Trying again at once", description="overloaded `x`", topic="retry"),
        Notice(severity="warning", title="p/m answers instead", description="down", topic="switch"),
        Notice(severity="warning", title="Something else"),
        CompactionChanged(status="completed", shortened=("a", "b")),
        StateChanged(state="idle", error="no key", code=-31101),
        ToolCallChanged(item="a", status="failed", refusal="another rule"),
    ]
    found = last_of_each(events)
    assert [(one.kind, one.what) for one in found] == [
        ("Last refusal", "`Old` was not run."),
        ("Last failure", "`no key`"),
        ("Last compaction", "2 old results were shortened."),
        ("Last change of model", "p/m answers instead: `down`"),
        ("Last retry", "Trying again at once: ``  overloaded `x`  ``".replace("  ", " ")),
    ]
    assert found[0].source == "another rule"
