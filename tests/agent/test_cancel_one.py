"""One call or one program is ended, and the rest goes on."""

import os
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio
import pytest

from claw_acp.agent.tool_runner import CANCELLED, CANCELLED_BEFORE
from claw_acp.core.events import FINAL, Event, PartContent, TerminalChanged, ToolCallChanged
from claw_acp.core.messages import TextPart
from claw_acp.process.groups import live_groups
from claw_acp.session.entries import INTERRUPTED, NEVER_RAN
from claw_acp.session.journal import Journal
from claw_acp.session.session import CLEANUP_TIMEOUT, Session
from claw_acp.tools.shell.shell import Shell
from claw_acp.tools.shell.task import ShellKill, ShellOutput
from tests.agent.runner_bench import SECRET, Asked, DeedTool, RunnerBench, ask, runner_bench
from tests.support.seen import Seen

SLEEPER = ask("shell", command="echo begun; sleep 1000")
ECHO = ask("shell", command="echo next")


async def _hang() -> str:
    await anyio.sleep_forever()
    raise AssertionError


async def _say() -> str:
    return "said"


HANG = DeedTool("hang", _hang)
SAY = DeedTool("say", _say)


def _runs(bench: RunnerBench, call_id: str) -> Callable[[], bool]:
    return lambda: "in_progress" in bench.statuses(call_id)


def _shows(bench: RunnerBench, call_id: str, text: str) -> Callable[[], bool]:
    return lambda: any(picture.text == text for picture in bench.pictures(call_id))


async def test_a_cancelled_call_ends_alone_and_the_turn_goes_on(tmp_path: Path) -> None:
    async with runner_bench(tmp_path, [HANG, SAY]) as bench, anyio.create_task_group() as tasks:
        tasks.start_soon(bench.turn, ask("hang"), ask("say"))
        await bench.until(_runs(bench, "call_1"), "a running call")
        assert bench.session.work.cancel_call("call_1")
        await bench.until(lambda: not bench.session.busy, "the end of the turn")
        assert bench.statuses("call_1") == ["pending", "in_progress", "cancelled"]
        assert bench.statuses("call_2") == ["pending", "in_progress", "completed"]
        assert bench.results() == [CANCELLED, "said"]


async def test_neighbours_of_a_cancelled_call_go_on(tmp_path: Path) -> None:
    go = anyio.Event()

    async def wait() -> str:
        await go.wait()
        return "waited"

    tools = [DeedTool("hang", _hang, parallel=True), DeedTool("wait", wait, parallel=True)]
    async with runner_bench(tmp_path, tools) as bench, anyio.create_task_group() as tasks:
        tasks.start_soon(bench.turn, ask("hang"), ask("wait"))
        await bench.until(_runs(bench, "call_2"), "both calls")
        assert bench.session.work.cancel_call("call_1")
        await bench.until(lambda: "cancelled" in bench.statuses("call_1"), "the cancelled call")
        go.set()
        await bench.until(lambda: not bench.session.busy, "the end of the turn")
        assert bench.results() == [CANCELLED, "waited"]


async def test_the_model_and_the_person_get_the_output_until_then(tmp_path: Path) -> None:
    async with runner_bench(tmp_path, [Shell()]) as bench, anyio.create_task_group() as tasks:
        tasks.start_soon(bench.turn, SLEEPER, ECHO)
        await bench.until(_shows(bench, "call_1", "begun"), "its output")
        assert bench.session.work.cancel_call("call_1")
        await bench.until(lambda: not bench.session.busy, "the end of the turn")
        assert bench.results() == [
            f"{CANCELLED} Until then:\n\nbegun\n\n[killed by SIGTERM]",
            "next\n\n[exit code 0]",
        ]
        last = bench.pictures("call_1")[-1]
        assert (last.text, last.running, last.signal) == ("begun", False, "SIGTERM")
        assert len({picture.terminal_id for picture in bench.pictures("call_1")}) == 1
        assert not live_groups()


async def test_a_call_is_cancelled_while_its_permission_is_asked(tmp_path: Path) -> None:
    async with runner_bench(tmp_path, [Shell(), SAY], mode="ask") as bench, anyio.create_task_group() as tasks:
        tasks.start_soon(bench.turn, ask("shell", command="touch made"), ask("say"))
        await bench.until(lambda: bool(bench.person.asked), "a question")
        assert bench.session.work.cancel_call("call_1")
        await bench.until(lambda: not bench.session.busy, "the end of the turn")
        assert bench.person.left_alone == ["call_1"]
        assert bench.statuses("call_1") == ["pending", "cancelled"]
        assert bench.results() == [CANCELLED_BEFORE, "said"]
    assert not (tmp_path / "made").exists()


async def test_a_call_that_waits_for_its_turn_is_cancelled_before_it_begins(tmp_path: Path) -> None:
    async with runner_bench(tmp_path, [Shell(), HANG]) as bench, anyio.create_task_group() as tasks:
        tasks.start_soon(bench.turn, ask("hang"), ask("shell", command="touch made"))
        await bench.until(_runs(bench, "call_1"), "a running call")
        assert bench.session.work.cancel_call("call_2")
        assert bench.session.work.cancel_call("call_1")
        await bench.until(lambda: not bench.session.busy, "the end of the turn")
        assert bench.statuses("call_2") == ["pending", "cancelled"]
        assert bench.results() == [CANCELLED, CANCELLED_BEFORE]
    assert not (tmp_path / "made").exists()


async def test_what_is_over_or_unknown_cannot_be_cancelled(tmp_path: Path) -> None:
    async with runner_bench(tmp_path, [Shell()]) as bench:
        assert await bench.turn(ECHO, ask("missing"))
        work = bench.session.work
        for call in ("call_1", "call_2", "call_3", ""):
            assert not work.cancel_call(call)
        for terminal in (bench.pictures("call_1")[0].terminal_id, "term_unknown", ""):
            assert not work.cancel_terminal(terminal)


async def test_cancelling_twice_is_no_more_than_cancelling_once(tmp_path: Path) -> None:
    async with runner_bench(tmp_path, [HANG]) as bench, anyio.create_task_group() as tasks:
        tasks.start_soon(bench.turn, ask("hang"))
        await bench.until(_runs(bench, "call_1"), "a running call")
        assert bench.session.work.cancel_call("call_1")
        assert bench.session.work.cancel_call("call_1")
        await bench.until(lambda: not bench.session.busy, "the end of the turn")
        assert bench.results() == [CANCELLED]


@pytest.mark.parametrize("first", ["call", "turn"])
async def test_a_cancel_of_the_turn_wins(tmp_path: Path, first: str) -> None:
    async with runner_bench(tmp_path, [Shell(), SAY]) as bench:
        ends: list[bool] = []

        async def turn() -> None:
            ends.append(await bench.turn(SLEEPER, ask("say")))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(turn)
            await bench.until(_shows(bench, "call_1", "begun"), "its output")
            cancels = [partial(bench.session.work.cancel_call, "call_1"), bench.session.cancel]
            for cancel in cancels if first == "call" else reversed(cancels):
                cancel()
        assert ends == [False]
        changes = [event for event in bench.seen.events if isinstance(event, ToolCallChanged) and event.status in FINAL]
        assert [(change.item, change.status) for change in changes] == [
            ("call_1", "cancelled"),
            ("call_2", "cancelled"),
        ]
        assert bench.results() == [f"{INTERRUPTED} Until then:\n\nbegun\n\n[killed by SIGTERM]", NEVER_RAN]


async def test_a_terminal_is_ended_and_its_call_reports_it(tmp_path: Path) -> None:
    async with runner_bench(tmp_path, [Shell()]) as bench, anyio.create_task_group() as tasks:
        tasks.start_soon(bench.turn, SLEEPER, ECHO)
        await bench.until(_shows(bench, "call_1", "begun"), "its output")
        terminal = bench.pictures("call_1")[0].terminal_id
        assert bench.session.work.cancel_terminal(terminal)
        await bench.until(lambda: not bench.session.busy, "the end of the turn")
        assert bench.statuses("call_1") == ["pending", "in_progress", "failed"]
        assert bench.results() == ["begun\n\n[killed by SIGTERM]", "next\n\n[exit code 0]"]
        last = bench.pictures("call_1")[-1]
        assert (last.terminal_id, last.running, last.signal) == (terminal, False, "SIGTERM")
        assert not bench.session.work.cancel_terminal(terminal)


# ------------------------------------------------------------------ in the background


def _background(command: str) -> Asked:
    return ask("shell", command=command, background=True)


async def test_a_program_in_the_background_is_followed_between_turns(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    async with runner_bench(tmp_path, [Shell()]) as bench:
        assert await bench.turn(_background("echo one; read < go; echo two; exit 3"))
        announced = bench.pictures("call_1")
        assert {(picture.text, picture.running) for picture in announced} == {("", True)}
        [terminal] = {picture.terminal_id for picture in announced}
        await bench.until(lambda: [each.text for each in bench.terminals()] == ["one"], "its output")
        assert bench.session.work.background() == tuple(bench.terminals())
        await anyio.to_thread.run_sync((tmp_path / "go").write_text, "\n")
        await bench.until(lambda: len(bench.terminals()) == 2, "its end")
        end = bench.terminals()[-1]
        assert (end.terminal_id, end.text, end.running, end.code) == (terminal, "one\ntwo", False, 3)
        assert bench.session.work.background() == ()
        assert not bench.session.work.cancel_terminal(terminal)


class _Counts(Seen):
    """Notes how many programs run in the background, as each picture is shown."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.counts: list[tuple[bool, int]] = []

    async def on_event(self, event: Event) -> None:
        if isinstance(event, TerminalChanged):
            self.counts.append((event.command.running, len(self._session.work.background())))


async def test_a_program_whose_end_is_shown_counts_no_longer(tmp_path: Path) -> None:
    async with runner_bench(tmp_path, [Shell()]) as bench:
        counts = _Counts(bench.session)
        bench.session.subscribers.append(counts)
        assert await bench.turn(_background("echo one; exec sleep 1000"), _background("exec sleep 1000"))
        await bench.until(lambda: bool(counts.counts), "its output")
        assert len(bench.session.work.background()) == 2
        for running in bench.session.work.background():
            bench.session.work.cancel_terminal(running.terminal_id)
        await bench.until(lambda: not bench.session.work.background(), "both ends")
        await bench.until(lambda: len(counts.counts) == 3, "both ends shown")
        assert counts.counts == [(True, 2), (False, 1), (False, 0)]


async def test_of_the_background_the_journal_has_only_how_it_ended(tmp_path: Path) -> None:
    async with runner_bench(tmp_path, [Shell()]) as bench:
        assert await bench.turn(_background("echo one"))
        await bench.until(lambda: bool(bench.terminals()), "its end")
        kept = await _with_the_end(bench)
        assert not any(isinstance(event, TerminalChanged) for event in kept)
        assert kept[-1] == ToolCallChanged(
            session=bench.session.id,
            seq=kept[-1].seq,
            item="call_1",
            content=(bench.terminals()[-1], PartContent(part=TextPart(text="exit code 0"))),
        )
        assert bench.session.history.messages()[-1].role == "tool"


async def _with_the_end(bench: RunnerBench) -> list[Event]:
    """The journal, once the end of a program in the background is in it."""
    with anyio.fail_after(10):
        while not isinstance(last := (kept := await bench.session.read())[-1], ToolCallChanged) or last.status:
            await anyio.lowlevel.checkpoint()
    return kept


async def test_a_program_that_ends_during_a_turn_is_kept_when_that_is_cancelled(tmp_path: Path) -> None:
    async with runner_bench(tmp_path, [Shell(), HANG]) as bench:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(bench.turn, _background("echo one"), ask("hang"))
            await bench.until(lambda: any(not each.running for each in bench.terminals()), "its end")
            await bench.until(_runs(bench, "call_2"), "a running call")
            bench.session.cancel()
        assert (await _with_the_end(bench))[-1].item == "call_1"


async def test_a_program_in_the_background_is_ended_by_its_terminal(tmp_path: Path) -> None:
    async with runner_bench(tmp_path, [Shell(), ShellOutput()]) as bench:
        assert await bench.turn(_background("exec sleep 1000"))
        [running] = bench.session.work.background()
        assert bench.session.work.cancel_terminal(running.terminal_id)
        await bench.until(lambda: not bench.session.work.background(), "its end")
        assert [(end.running, end.signal) for end in bench.terminals()] == [(False, "SIGTERM")]
        assert not live_groups()


async def test_the_model_ends_a_program_in_the_background_and_people_see_it(tmp_path: Path) -> None:
    async with runner_bench(tmp_path, [Shell(), ShellKill()]) as bench:
        assert await bench.turn(_background("exec sleep 1000"))
        task = bench.results()[0].split()[5].rstrip(".")
        assert await bench.turn(ask("shell_kill", task=task))
        await bench.until(lambda: bool(bench.terminals()), "its end")
        assert [(end.running, end.signal) for end in bench.terminals()] == [(False, "SIGTERM")]


async def test_cancelling_a_turn_leaves_the_background_alone(tmp_path: Path) -> None:
    async with runner_bench(tmp_path, [Shell(), HANG]) as bench:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(bench.turn, _background("exec sleep 1000"), ask("hang"))
            await bench.until(_runs(bench, "call_2"), "a running call")
            bench.session.cancel()
        assert len(bench.session.work.background()) == 1
        assert len(live_groups()) == 1
        assert bench.terminals() == []


async def test_closing_the_session_shows_the_end_of_the_background_and_then_nothing(tmp_path: Path) -> None:
    async with runner_bench(tmp_path, [Shell()]) as bench:
        stubborn = _background("trap '' TERM; echo up; while :; do sleep 1; done")
        assert await bench.turn(stubborn, _background("exec sleep 1000"))
        await bench.until(lambda: bool(bench.terminals()), "a command that takes no hints")
        await bench.session.aclose()
        ends = [each.signal or "" for each in bench.terminals() if not each.running]
        assert sorted(ends) == ["SIGKILL", "SIGTERM"]
        assert bench.session.work.background() == ()
        assert not live_groups()
        shown = len(bench.seen.events)
        await anyio.wait_all_tasks_blocked()
        assert len(bench.seen.events) == shown


async def test_pictures_of_programs_show_no_credentials(tmp_path: Path) -> None:
    async with runner_bench(tmp_path, [Shell()]) as bench:
        assert await bench.turn(_background(f"echo {SECRET}"), ask("shell", command=f"echo {SECRET}"))
        await bench.until(lambda: bool(bench.terminals()), "its end")
        for picture in (*bench.terminals(), *bench.pictures("call_1"), *bench.pictures("call_2")):
            assert SECRET not in picture.line + picture.text
        assert "[redacted]" in bench.terminals()[-1].text


async def test_output_that_comes_all_the_time_is_shown_at_a_pace_for_people(tmp_path: Path) -> None:
    async with runner_bench(tmp_path, [Shell()]) as bench:
        assert await bench.turn(_background("for i in $(seq 2000); do echo $i; done; echo last"))
        await bench.until(lambda: not bench.session.work.background(), "its end")
        assert len(bench.terminals()) < 100
        assert bench.terminals()[-1].text.endswith("\nlast")


# ------------------------------------------------------------------ a journal that cannot be written


async def test_under_a_foreign_lock_every_call_of_a_cancelled_turn_is_shown_as_ended(tmp_path: Path) -> None:
    async with runner_bench(tmp_path, [HANG, SAY]) as bench, anyio.create_task_group() as tasks:
        tasks.start_soon(bench.turn, ask("hang"), ask("say"), ask("say"))
        await bench.until(_runs(bench, "call_1"), "a running call")
        foreign = sqlite3.connect(tmp_path / "claw.db", isolation_level=None)
        foreign.execute("BEGIN EXCLUSIVE")
        bench.session.cancel()
        await bench.until(lambda: not bench.session.busy, "the end of the turn")
        assert [bench.statuses(call)[-1] for call in ("call_1", "call_2", "call_3")] == ["cancelled"] * 3
        foreign.execute("ROLLBACK")
        foreign.close()
    async with Journal.opened(tmp_path / "claw.db") as journal:
        kept = [event for event in await journal.read("ses_1") if isinstance(event, ToolCallChanged)]
    assert [(event.item, event.status) for event in kept if event.status in FINAL] == [
        ("call_1", "cancelled"), ("call_2", "cancelled"), ("call_3", "cancelled"),
    ]  # fmt: skip


async def test_all_last_words_of_a_turn_share_one_bound(tmp_path: Path) -> None:
    first = 0.0
    async with runner_bench(tmp_path, [HANG, SAY]) as bench:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(bench.turn, ask("hang"))
            await bench.until(_runs(bench, "call_1"), "a running call")
            bench.session.cancel()
            first = bench.session.cleanup_scope().deadline
        assert bench.session.cleanup_scope().deadline == first
        assert await bench.turn(ask("say"))
        assert bench.session.cleanup_scope().deadline > first, "the next turn has its own"


async def test_a_call_cancelled_alone_takes_nothing_of_the_turns_last_words(tmp_path: Path) -> None:
    async with runner_bench(tmp_path, [HANG]) as bench, anyio.create_task_group() as tasks:
        foreign = sqlite3.connect(tmp_path / "claw.db", isolation_level=None)
        foreign.execute("BEGIN EXCLUSIVE")
        tasks.start_soon(bench.turn, ask("hang"), ask("hang"))
        await bench.until(lambda: "pending" in bench.statuses("call_2"), "calls that wait for the journal")
        bench.session.work.cancel_call("call_1")
        await bench.until(lambda: "in_progress" in bench.statuses("call_1"), "the broken-off commit")
        foreign.execute("ROLLBACK")
        foreign.close()
        await bench.until(_runs(bench, "call_2"), "the next call")
        now = anyio.current_time()
        bench.session.cancel()
        assert bench.session.cleanup_scope().deadline >= now + CLEANUP_TIMEOUT
