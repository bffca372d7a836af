"""Looking at conversations."""

import json
import os
from pathlib import Path

import anyio
import pytest

from claw_acp.cli.sessions import command
from claw_acp.cli.sessions.outline import outline
from claw_acp.core.errors import InvalidRequest, SessionBusy, SessionNotFound
from claw_acp.core.events import MessageStarted, Notice, StateChanged, TextDelta, ToolCallChanged
from claw_acp.core.messages import TextPart
from claw_acp.core.value import replace
from claw_acp.session.journal import Journal
from claw_acp.session.lock import SessionLock
from claw_acp.session.record import SessionRecord
from tests.cli.support import claw
from tests.support.editors.terminal import at_terminal

Capture = pytest.CaptureFixture[str]
FIRST, SECOND, NEVER_BEGUN = "ses_aaaaaaaa1", "ses_aaaaaaaa2", "ses_cccccccc3"


async def fill(home: Path) -> None:
    """Two sessions, one of them with a conversation, the other with a turn in which nothing was said yet."""
    async with Journal.opened(home / "claw.db") as journal:
        for number, session in enumerate((FIRST, SECOND), start=1):
            await journal.create(
                SessionRecord(
                    id=session,
                    cwd=f"/project{number}",
                    title=f"Title {number}",
                    mode="ask",
                    model="offline/assistant",
                    created_at=number,
                    updated_at=number,
                )
            )
        events = [
            MessageStarted(session=FIRST, seq=1, item="msg_1", role="user", parts=(TextPart(text="fix\nit"),)),
            MessageStarted(session=FIRST, seq=2, item="msg_2", role="assistant"),
            TextDelta(session=FIRST, seq=3, item="msg_2", text="Let me look. " + "x" * 200),
            ToolCallChanged(session=FIRST, seq=4, item="call_1", name="read", title="Read a.py", status="pending"),
            ToolCallChanged(session=FIRST, seq=5, item="call_1", status="completed"),
            Notice(session=FIRST, seq=6, item="ntc_1", severity="error", title="The model did not answer"),
        ]
        for event in events:
            await journal.append(FIRST, event, wait=True)
        await journal.append(SECOND, StateChanged(session=SECOND, seq=1, item="turn_1", state="running"), wait=True)


@pytest.fixture
def filled(home: Path) -> Path:
    anyio.run(fill, home)
    return home


def test_no_journal_means_no_sessions_and_none_is_made(home: Path, capsys: Capture) -> None:
    assert command.main(["list"]) == 0
    assert capsys.readouterr().out == "there are no sessions yet\n"
    assert list(home.iterdir()) == []


@pytest.mark.usefixtures("filled")
def test_the_last_changed_session_is_listed_first(capsys: Capture) -> None:
    command.main(["list"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["SESSION", SECOND, FIRST]
    assert lines[1].endswith("/project2  Title 2")


@pytest.mark.usefixtures("filled")
def test_listing_can_be_narrowed_and_read_by_programs(capsys: Capture) -> None:
    command.main(["list", "--json", "--limit", "1"])
    assert [record["id"] for record in json.loads(capsys.readouterr().out)] == [SECOND]
    command.main(["list", "--json", "--cwd", "/project1"])
    assert [record["id"] for record in json.loads(capsys.readouterr().out)] == [FIRST]
    with pytest.raises(SystemExit) as ended:
        command.main(["list", "--limit", "0"])
    assert ended.value.code == 2


def test_sessions_that_never_began_are_listed_on_request(filled: Path, capsys: Capture) -> None:
    async def begin() -> None:
        async with Journal.opened(filled / "claw.db") as journal:
            known = await journal.get(FIRST)
            await journal.create(replace(known, id=NEVER_BEGUN, title=None, created_at=9, updated_at=9))

    anyio.run(begin)
    assert listed(capsys) == [SECOND, FIRST]
    assert listed(capsys, "--limit", "1") == [SECOND]
    assert listed(capsys, "--all") == [NEVER_BEGUN, SECOND, FIRST]


@pytest.mark.usefixtures("filled")
def test_show_has_one_line_for_each_thing_said_or_done(capsys: Capture) -> None:
    command.main(["show", FIRST])
    assert capsys.readouterr().out.split("\n\n")[1].splitlines() == [
        "user: fix it",
        f"assistant: Let me look. {'x' * 87}…",
        "tool: Read a.py (completed)",
        "notice: The model did not answer",
    ]


@pytest.mark.usefixtures("filled")
def test_show_of_an_empty_session_says_so(capsys: Capture) -> None:
    command.main(["show", SECOND])
    assert capsys.readouterr().out.endswith("(nothing was said yet)\n")


@pytest.mark.usefixtures("filled")
def test_export_is_a_document_or_json(capsys: Capture) -> None:
    command.main(["export", FIRST])
    assert capsys.readouterr().out.startswith("# Title 1\n")
    command.main(["export", FIRST, "--json"])
    assert json.loads(capsys.readouterr().out)["session"]["id"] == FIRST


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(("part", "found"), [("ses_aaaaaaaa2", SECOND), ("aaaaaaaa1", FIRST), ("AAA1", FIRST)])
def test_an_unmistakable_beginning_or_end_of_an_id_is_enough(part: str, found: str, capsys: Capture) -> None:
    command.main(["show", part])
    assert found in capsys.readouterr().out


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    ("part", "problem"),
    [
        ("ses_aaaa", rf"may be several sessions; write more of the id:\n  {SECOND}  Title 2\n  {FIRST}  Title 1"),
        ("aaaaaaaa", "may be several sessions"),
        ("ses_bbbb", "`claw-acp sessions list` shows them"),
        ("ses_", "`claw-acp sessions list` shows them"),
        ("aa1", "is too little of an id"),
        ("%%%%", "`claw-acp sessions list` shows them"),
    ],
)
def test_a_part_of_an_id_that_is_mistakable_finds_nothing(part: str, problem: str, capsys: Capture) -> None:
    with pytest.raises((InvalidRequest, SessionNotFound), match=problem):
        command.main(["show", part])
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("filled")
def test_a_session_is_deleted_for_good(capsys: Capture) -> None:
    assert command.main(["delete", "aaa1", "--yes"]) == 0
    assert capsys.readouterr().out == f"{FIRST} is deleted\n"
    assert listed(capsys) == [SECOND]
    with pytest.raises(SessionNotFound):
        command.main(["show", FIRST])


def test_a_session_in_which_a_turn_runs_is_not_deleted(filled: Path, capsys: Capture) -> None:
    with SessionLock(filled / "locks").hold(FIRST), pytest.raises(SessionBusy, match="already running a turn"):
        command.main(["delete", FIRST, "--yes"])
    assert FIRST in listed(capsys)


def test_a_person_is_asked_before_a_session_is_deleted(filled: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "CLAW_ACP_HOME": str(filled)}
    for answer, said in (("\n", "Nothing was deleted."), ("y\n", f"{FIRST} is deleted")):
        with at_terminal("sessions", "delete", FIRST, environ=environ, cwd=filled) as terminal:
            terminal.wait_for(f"Delete {FIRST} (Title 1) of /project1? [y/N] ")
            terminal.type(answer)
            terminal.wait_for(said)


def test_where_nobody_can_be_asked_nothing_is_deleted(filled: Path, capsys: Capture) -> None:
    done = claw("sessions", "delete", FIRST, home=filled, environ={"CLAW_ACP_HOME": str(filled)})
    assert (done.returncode, done.stderr) == (
        2,
        f"claw-acp sessions: no terminal to ask on; --yes deletes {FIRST}\n",
    )
    assert FIRST in listed(capsys)


def test_escape_sequences_in_a_conversation_do_not_reach_the_terminal() -> None:
    started = MessageStarted(seq=1, item="m", role="user", parts=(TextPart(text="a\x1b[2Jb"),))
    assert outline([started]) == [r"user: a\x1b[2Jb"]


def listed(capsys: Capture, *more: str) -> list[str]:
    capsys.readouterr()
    assert command.main(["list", "--json", *more]) == 0
    return [record["id"] for record in json.loads(capsys.readouterr().out)]


@pytest.mark.usefixtures("filled")
def test_a_session_is_put_aside_and_fetched_back(capsys: Capture) -> None:
    assert command.main(["archive", SECOND]) == 0
    assert capsys.readouterr().out == f"{SECOND} is archived\n"
    assert listed(capsys) == [FIRST]
    assert listed(capsys, "--archived") == [SECOND]
    command.main(["list", "--archived", "--cwd", "/project1"])
    assert capsys.readouterr().out == "there are no archived sessions of /project1\n"
    command.main(["show", SECOND])
    assert "Title 2" in capsys.readouterr().out
    assert command.main(["unarchive", SECOND]) == 0
    assert capsys.readouterr().out == f"{SECOND} is no longer archived\n"
    assert listed(capsys) == [SECOND, FIRST]


@pytest.mark.usefixtures("filled")
def test_a_session_gets_a_title_and_a_copy(capsys: Capture) -> None:
    assert command.main(["rename", FIRST, "The", " mill\n"]) == 0
    assert capsys.readouterr().out == f"{FIRST} is called The mill\n"
    assert command.main(["fork", FIRST]) == 0
    copy = capsys.readouterr().out.strip()
    assert listed(capsys) == [copy, SECOND, FIRST]
    command.main(["show", copy])
    shown = capsys.readouterr().out
    assert "The mill (fork)" in shown
    assert "Let me look." in shown


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("change", ["archive", "unarchive", "fork", "rename", "delete"])
def test_what_is_not_there_is_not_changed(change: str) -> None:
    with pytest.raises(SessionNotFound):
        command.main([change, "ses_nowhere", *{"rename": ["x"], "delete": ["--yes"]}.get(change, [])])
    if change == "rename":
        with pytest.raises(InvalidRequest):
            command.main([change, FIRST, " "])


@pytest.mark.parametrize("change", ["archive", "fork"])
def test_no_journal_is_made_to_change_a_session_in_it(home: Path, change: str) -> None:
    with pytest.raises(SessionNotFound):
        command.main([change, FIRST])
    assert list(home.iterdir()) == []
