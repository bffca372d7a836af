"""Pictures of programs and calls become the fewest updates that make a client's picture the same."""

import base64
from typing import Any

import pytest

from claw_acp.acp.v2.replay import folded
from claw_acp.acp.v2.terminals import Terminals
from claw_acp.acp.v2.tool_calls import ToolCalls
from claw_acp.core.events import (
    CommandContent,
    CompactionChanged,
    DiffContent,
    MessageStarted,
    Notice,
    PartContent,
    PlanChanged,
    StateChanged,
    TerminalContent,
    TextDelta,
    ThoughtDelta,
    ToolCallChanged,
    UsageChanged,
)
from claw_acp.core.messages import TextPart, Usage


def picture(text: str, **more: Any) -> CommandContent:
    return CommandContent(terminal_id="t", line="run", cwd="/work", text=text, **more)


def part(text: str) -> PartContent:
    return PartContent(part=TextPart(text=text))


def drawn(terminals: Terminals, shown: CommandContent) -> list[Any]:
    return list(terminals.draw(shown))


def changed(calls: ToolCalls, event: ToolCallChanged, *, cancellable: bool = False) -> list[Any]:
    return list(calls.change(event, cancellable=cancellable))


def output(update: Any) -> str:
    return base64.b64decode(update["data"] if "data" in update else update["output"]["data"]).decode()


@pytest.mark.rule("v2.terminal-bytes")
def test_only_what_is_new_is_sent() -> None:
    terminals = Terminals()
    (begun,) = drawn(terminals, picture("one"))
    assert (output(begun), begun["command"], begun["capabilities"]) == ("one", "run", {"cancel": {}})
    assert drawn(terminals, picture("one")) == []
    (grown,) = drawn(terminals, picture("one\ntwo"))
    assert (grown["sessionUpdate"], output(grown)) == ("terminal_output_chunk", "\ntwo")
    chunk, ended = drawn(terminals, picture("one\ntwo!", running=False, code=0))
    assert output(chunk) == "!"
    assert (ended["exitStatus"], ended["capabilities"]) == ({"exitCode": 0}, None)
    assert "output" not in ended
    assert drawn(terminals, picture("one\ntwo!", running=False, code=0)) == []


@pytest.mark.rule("v2.terminal-bytes")
def test_output_whose_beginning_was_dropped_is_continued_and_another_picture_replaces() -> None:
    terminals = Terminals()
    first = "".join(f"line {number}\n" for number in range(400))
    drawn(terminals, picture(first))
    (grown,) = drawn(terminals, picture("[left out]\n" + first[1000:] + "more\n"))
    assert (grown["sessionUpdate"], output(grown)) == ("terminal_output_chunk", "more\n")
    (other,) = drawn(terminals, picture("all different"))
    assert (other["sessionUpdate"], output(other)) == ("terminal_update", "all different")


def exact(raw: bytes | None, printed: int, text: str = "masked", **more: Any) -> CommandContent:
    return picture(text, raw=raw, printed=printed, **more)


@pytest.mark.rule("v2.terminal-bytes")
def test_bytes_go_on_where_they_ended_and_text_stands_for_those_that_may_not_be_seen() -> None:
    terminals = Terminals()
    drawn(terminals, exact(b"", 0))
    updates = [
        update
        for shown in (
            exact(b"\xc3", 1),
            exact(b"\xc3\xa4y\ny\n", 6),
            exact(b"y\ny\n", 8),  # the beginning is no longer kept
            exact(None, 20),
            exact(None, 24, "masked too"),
            exact(b"\x1b[0m\n", 40),
            exact(b"far\n", 90),  # what came between is not known
            exact(b"far\n", 90, code=0, running=False),
        )
        for update in drawn(terminals, shown)
    ]
    assert [base64.b64decode(update.get("data", "")) or output(update).encode() for update in updates[:-1]] == [
        b"\xc3", b"\xa4y\ny\n", b"y\n", b"masked", b" too", b"\x1b[0m\n", b"far\n",
    ]  # fmt: skip
    grows = [update["sessionUpdate"] == "terminal_output_chunk" for update in updates[:-1]]
    assert grows == [True, True, True, False, True, False, False]
    assert "output" not in updates[-1]


def test_a_program_that_is_seen_only_after_its_end_is_whole() -> None:
    (update,) = drawn(Terminals(), picture("all", running=False, signal="SIGKILL"))
    assert output(update) == "all"
    assert update["exitStatus"] == {"signal": "SIGKILL"}
    assert "capabilities" not in update


def test_half_a_character_does_not_stop_a_terminal() -> None:
    (update,) = drawn(Terminals(), picture("\ud800"))
    assert output(update) == "?"


@pytest.mark.rule("v2.tool-upsert")
def test_content_that_grows_is_sent_in_pieces_and_the_same_content_not_at_all() -> None:
    calls = ToolCalls()
    changed(calls, ToolCallChanged(item="c", name="x", title="X", status="pending"))
    (first,) = changed(calls, ToolCallChanged(item="c", content=(part("one"),)))
    assert len(first["content"]) == 1
    assert changed(calls, ToolCallChanged(item="c", content=(part("one"),))) == []
    (grown,) = changed(calls, ToolCallChanged(item="c", content=(part("one"), part("two"))))
    assert grown["sessionUpdate"] == "tool_call_content_chunk"
    assert grown["content"]["content"]["text"] == "two"
    chunk, ended = changed(
        calls, ToolCallChanged(item="c", status="failed", content=(part("one"), part("two"), part("3")))
    )
    assert (chunk["sessionUpdate"], ended["status"], "content" in ended) == ("tool_call_content_chunk", "failed", False)


def test_a_terminal_is_announced_before_the_call_that_shows_it() -> None:
    calls = ToolCalls()
    terminal, call = changed(calls, ToolCallChanged(item="c", name="x", title="X", content=(picture("hi"),)))
    assert terminal["sessionUpdate"] == "terminal_update"
    assert call["content"] == [{"type": "terminal", "terminalId": "t"}]
    (chunk,) = changed(calls, ToolCallChanged(item="c", content=(picture("hi there"),)))
    assert chunk["sessionUpdate"] == "terminal_output_chunk"


def test_the_terminal_of_another_client_is_not_shown_but_what_it_printed_is() -> None:
    calls = ToolCalls()
    changed(calls, ToolCallChanged(item="c", name="x", title="X"))
    foreign = TerminalContent(terminal_id="theirs")
    assert changed(calls, ToolCallChanged(item="c", content=(foreign,))) == []
    ended = ToolCallChanged(item="c", status="completed", content=(foreign,), output=(TextPart(text="printed"),))
    (update,) = changed(calls, ended)
    assert [item["content"]["text"] for item in update["content"]] == ["printed"]


@pytest.mark.rule("v2.diff-consistent")
def test_a_deleted_file_is_a_deletion() -> None:
    diff = DiffContent(path="/a", old_text="x\n", new_text=None)
    (update,) = changed(ToolCalls(), ToolCallChanged(item="c", name="x", title="X", content=(diff,)))
    (shown,) = update["content"]
    assert shown["changes"] == [{"operation": "delete", "path": "/a", "fileType": "text"}]
    assert "+++ /dev/null" in shown["patch"]["text"]


@pytest.mark.rule("v2.cancel-advertised")
def test_cancelling_is_offered_once_and_taken_back_at_the_end() -> None:
    calls = ToolCalls()
    (first,) = changed(calls, ToolCallChanged(item="c", name="x", title="X"), cancellable=True)
    (second,) = changed(calls, ToolCallChanged(item="c", status="in_progress"), cancellable=True)
    (last,) = changed(calls, ToolCallChanged(item="c", status="cancelled"), cancellable=False)
    assert (first["capabilities"], "capabilities" in second, last["capabilities"]) == ({"cancel": {}}, False, None)


def test_a_past_conversation_has_every_item_once_in_its_last_state() -> None:
    asked = MessageStarted(item="m1", role="user", parts=(TextPart(text="hi"),))
    events = [
        StateChanged(item="turn", state="running"),
        asked,
        ThoughtDelta(item="m2", text="h"),
        TextDelta(item="m2", text="a"),
        ThoughtDelta(item="m2", text="m"),
        ToolCallChanged(item="c", name="x", title="X", status="pending", message="m2"),
        UsageChanged(used=1, size=10, request=Usage()),
        PlanChanged(item="p", entries=()),
        ToolCallChanged(item="c", status="completed", title="Y"),
        TextDelta(item="m2", text="b"),
        CompactionChanged(item="k", status="in_progress", delta="so "),
        CompactionChanged(item="k", status="in_progress", delta="far"),
        CompactionChanged(item="k", status="completed"),
        UsageChanged(used=2, size=10, request=Usage()),
        Notice(severity="info", title="passing"),
        StateChanged(item="turn", state="idle", stop="end_turn"),
    ]
    assert folded(events) == [
        asked,
        ThoughtDelta(item="m2", text="hm"),
        TextDelta(item="m2", text="ab"),
        ToolCallChanged(item="c", name="x", title="Y", status="completed", message="m2"),
        PlanChanged(item="p", entries=()),
        CompactionChanged(item="k", status="completed", summary="so far"),
        UsageChanged(used=2, size=10, request=Usage()),
    ]
