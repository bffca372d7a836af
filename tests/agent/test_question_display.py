"""Whatever a model writes, the question shows a person what it is."""

from pathlib import Path

import pytest

from claw_acp.agent.question import question_about
from claw_acp.contracts.questions import PermissionQuestion
from claw_acp.contracts.tool import Access, CallView, FetchesUrl, Invocation, RunsCommand, ToolResult, UsesServer
from claw_acp.core.mode import Mode
from claw_acp.core.printable import printable
from claw_acp.security.policy import Policy, PolicyContext
from tests.core.test_lookalikes import DECEIVING, PLAIN
from tests.core.test_printable import UNSEEN

HERE = Path("/project")
ESCAPES = ["\x1b[2K\x1b[1A", "\x1b]0;title\x07", "\x9b31m", "\r$ ls", "\x08\x08\x08ls", "e" + "\u0301" * 9]
HIDING = [*(f"rm{mark}x" for mark in UNSEEN if mark != "\ud800"), *(f"rm {text}" for text in ESCAPES)]


class _Call(Invocation):
    def __init__(self, access: Access, title: str) -> None:
        self.view = CallView(title=title, kind="other")
        self.accesses = (access,)

    async def run(self) -> ToolResult:
        raise NotImplementedError


def asked(kind: str, text: str) -> PermissionQuestion:
    """The question about a call that holds a text."""
    access: Access = {
        "shell": RunsCommand(line=text, cwd=HERE),
        "fetch": FetchesUrl(url=f"https://{text}/x"),
        "files__read": UsesServer(server=text, tool=text),
    }[kind]
    mode: Mode = "ask"
    context = PolicyContext(roots=(HERE,), home=Path("/home/ada"))
    decision = Policy().decide(tool=kind, accesses=[access], mode=mode, context=context)
    return question_about(_Call(access, text), decision, preview=(), arguments={"value": text})


def shown(question: PermissionQuestion) -> str:
    labels = " ".join(choice.label for choice in question.choices)
    command = question.command.line if question.command else ""
    return "\n".join([question.title, question.reason, question.stored, labels, command, str(question.raw_input)])


@pytest.mark.parametrize("kind", ["shell", "fetch", "files__read"])
@pytest.mark.parametrize("text", HIDING)
def test_what_cannot_be_seen_or_moves_the_cursor_is_written_out(kind: str, text: str) -> None:
    everything = shown(asked(kind, text)).replace("\u200e", "")  # a mark of ours, which keeps the order
    assert all(printable(line) == line for line in everything.split("\n"))
    assert "\\" in everything


@pytest.mark.parametrize("kind", ["shell", "fetch", "files__read"])
@pytest.mark.parametrize("text", DECEIVING)
def test_what_looks_like_something_else_is_told(kind: str, text: str) -> None:
    assert "Not what it looks like: " in asked(kind, text).reason


@pytest.mark.parametrize("text", PLAIN)
def test_nothing_is_said_about_text_of_any_language(text: str) -> None:
    assert "looks like" not in asked("files__read", text).reason
