import io
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from claw_acp.cli.run.view import PlainText
from claw_acp.cli.terminal.live_view import LiveView
from claw_acp.cli.terminal.paint import Paint
from claw_acp.cli.terminal.permission_keys import PermissionPrompt, first_of, keys_for
from claw_acp.core.errors import ClawError
from claw_acp.schema.content import TextContent
from claw_acp.schema.permission import PermissionOption, PermissionOptionKind, RequestPermissionRequest
from claw_acp.schema.plans import PlanEntry
from claw_acp.schema.tool_call import Content, Diff, Terminal, ToolCall, ToolCallUpdate
from claw_acp.schema.updates import ContentChunk, Notice, Plan, SessionUpdate, ToolCallUpdated


def drawn(*updates: SessionUpdate, terminal: str = "") -> str:
    out = io.StringIO()
    view = LiveView(out, paint=Paint(out), base=Path("/project"))
    view.terminal_text = lambda _: terminal
    for update in updates:
        view.draw(update)
    view.end()
    return out.getvalue()


def said(text: str) -> ContentChunk:
    return ContentChunk(session_update="agent_message_chunk", content=TextContent(text=text))


def option(kind: PermissionOptionKind, name: str) -> PermissionOption:
    return PermissionOption(option_id=name, name=name, kind=kind)


EVIL = "\x1b]0;x\x07\x9b2J\u202e!"
SHELL = ToolCall(tool_call_id="c1", title="make test", name="shell", kind="execute")


def test_an_announced_call_is_drawn_when_something_happens_to_it() -> None:
    assert drawn(SHELL) == ""
    assert drawn(SHELL, ToolCallUpdated(tool_call_id="c1", status="in_progress")) == "  ▸ make test\n\n"


def test_a_command_shows_the_end_of_what_its_terminal_printed() -> None:
    done = ToolCallUpdated(tool_call_id="c1", status="completed", content=(Terminal(terminal_id="t1"),))

    text = drawn(SHELL, done, terminal="\n".join(str(number) for number in range(20)))

    assert text.startswith("  ▸ make test\n    │ … 8 lines above\n    │ 8\n")
    assert text.endswith("    │ 19\n    ✓ done\n\n")


def test_a_diff_is_drawn_once_with_the_projects_own_paths() -> None:
    diff = Diff(path="/project/a.py", old_text="x = 1\n", new_text="x = 2\n")
    updates = [
        ToolCall(tool_call_id="c2", title="Edit a.py", kind="edit"),
        ToolCallUpdated(tool_call_id="c2", content=(diff,)),
        ToolCallUpdated(tool_call_id="c2", status="completed", content=(diff,)),
    ]

    text = drawn(*updates)

    assert text.count("    -x = 1\n    +x = 2\n") == 1
    assert "--- a/a.py" in text


def test_the_plan_is_drawn_only_when_it_changed_and_its_tool_call_not_at_all() -> None:
    plan = Plan(entries=(PlanEntry(content="Look", priority="medium", status="completed"),))
    call = ToolCall(tool_call_id="c3", title="Update the plan", name="plan", status="in_progress")

    assert drawn(call, plan, plan) == "  ✓ Look\n\n"


def test_text_around_a_card_keeps_its_distance() -> None:
    done = ToolCallUpdated(tool_call_id="c1", status="completed")

    assert (
        drawn(said("Before."), SHELL, done, said("After.")) == "  Before.\n\n  ▸ make test\n    ✓ done\n\n  After.\n\n"
    )


def test_each_answer_has_a_key_of_its_own() -> None:
    options = [option("allow_once", "once"), option("allow_once", "twice"), option("reject_once", "no")]

    assert {key: chosen.name for key, chosen in keys_for(options).items()} == {"y": "once", "2": "twice", "n": "no"}


def test_the_first_option_of_the_first_kind_wins() -> None:
    options: Sequence[PermissionOption] = [option("allow_always", "always"), option("allow_once", "once")]

    chosen = first_of(options, "allow_once", "allow_always")
    assert (chosen and chosen.name, first_of(options, "reject_once")) == ("once", None)


async def test_an_answer_given_by_itself_says_why() -> None:
    out = io.StringIO()
    view = LiveView(out, paint=Paint(out), base=Path("/project"))
    view.draw(SHELL)
    reason = Content(content=TextContent(text="It runs a program."))
    request = RequestPermissionRequest(
        session_id="s1",
        tool_call=ToolCallUpdate(tool_call_id="c1", content=(reason,)),
        options=(option("allow_once", "Allow"), option("reject_once", "Reject")),
    )

    chosen = await PermissionPrompt(view, by="nobody", why="nobody is here").answer(request)

    assert chosen is None
    assert out.getvalue() == (
        "  ▸ make test\n    ? It runs a program.\n      → Dismissed (answered by itself: nobody is here)\n"
    )


def test_no_text_of_a_session_steers_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    call = ToolCall(tool_call_id="c1", title=EVIL, name="shell", kind="execute")
    content = (Terminal(terminal_id="t1"), Diff(path=f"/project/{EVIL}", old_text=EVIL, new_text=f"{EVIL}x"))
    updates: list[SessionUpdate] = [
        said(EVIL),
        Plan(entries=(PlanEntry(content=EVIL, priority="low", status="pending"),)),
        Notice(severity="info", title=EVIL, description=EVIL),
        call,
        ToolCallUpdated(tool_call_id="c1", title=f"{EVIL}2", status="completed", content=content),
    ]
    view = PlainText(LiveView(sys.stdout, paint=Paint(sys.stdout), base=Path("/project")))
    for update in updates:
        view.draw("ses_1", update)
    view.failed(ClawError(EVIL))
    shown = drawn(*updates, terminal=EVIL) + "".join(capsys.readouterr())
    assert all(line.isprintable() for line in shown.split("\n"))
    assert shown.count(r"\x9b2J") > 3 * len(updates)
