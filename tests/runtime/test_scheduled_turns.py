"""Jobs as turns of sessions: nobody is asked, and a job has what it was given and no more."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from claw_acp.contracts.schedule import Job, RunResult
from claw_acp.core.errors import SessionNotFound
from claw_acp.core.events import MessageStarted, TextDelta
from claw_acp.core.money import from_dollars
from claw_acp.core.value import replace
from claw_acp.runtime.build import open_engine
from claw_acp.runtime.engine import Engine
from claw_acp.runtime.scheduled_turns import REFUSED, ScheduledTurns
from claw_acp.schedule.definition import parse_job
from claw_acp.session.setup import SessionSetup
from tests.support.quiet import QUIET
from tests.support.script_files import Script, call, configure, expect, fail, hold, say, turn, usage
from tests.support.servers.model_replies import Call, Say, Tokens
from tests.support.servers.priced_model import COST, priced_model


@asynccontextmanager
async def _engine(home: Path, script: Script | None, *, more: str = "") -> AsyncGenerator[Engine]:
    configure(home / "claw", script, more=more)
    environ = {**QUIET, "HOME": str(home), "CLAW_ACP_HOME": str(home / "claw"), "PATH": "/usr/bin:/bin"}
    async with open_engine(environ=environ) as engine:
        yield engine


def _job(cwd: Path, **fields: object) -> Job:
    return parse_job("j", {"every": "1h", "cwd": str(cwd), "prompt": "look", **fields}, now=0.0)


async def _run(engine: Engine, job: Job, prompt: str = "look") -> RunResult:
    sessions: list[str] = []

    async def on_session(session: str) -> None:
        sessions.append(session)

    result = await ScheduledTurns(engine).run(job, prompt=prompt, on_session=on_session)
    assert sessions in ([result.session_id], [])
    return result


async def test_a_run_has_a_session_of_its_own_which_is_closed_after_it_and_tells_what_it_took(tmp_path: Path) -> None:
    script = Script(
        turn(say("first"), call("think", thought="hm")),
        turn(say("The log is ", "full."), usage(input_tokens=70, output_tokens=5)),
    )
    async with _engine(tmp_path, script) as engine:
        result = await _run(engine, _job(tmp_path, mode="plan"))
        assert (result.status, result.text, result.detail) == ("succeeded", "The log is full.", "")
        assert (result.input_tokens, result.output_tokens) == (70, 5)
        assert result.session_id is not None
        record = await engine.sessions.record(result.session_id)
        assert (record.title, record.mode, record.cwd) == ("j", "plan", str(tmp_path))
        assert await engine.sessions.status(result.session_id) == "saved"
        assert (await engine.sessions.list(cwd=None, cursor=None)).records == ()
        await engine.sessions.unarchive(result.session_id)
        await ScheduledTurns(engine).forget(result.session_id)  # somebody wants to keep it
        assert await engine.sessions.status(result.session_id) == "saved"
        await engine.sessions.archive(result.session_id)
        for _ in range(2):
            await ScheduledTurns(engine).forget(result.session_id)
        with pytest.raises(SessionNotFound):
            await engine.sessions.status(result.session_id)


async def test_what_would_be_asked_is_refused_and_reported(tmp_path: Path) -> None:
    script = Script(turn(call("shell", command="touch x")), turn(say("I could not.")))
    async with _engine(tmp_path, script) as engine:
        result = await _run(engine, _job(tmp_path, mode="edit"))
    assert (result.status, result.text) == ("succeeded", "I could not.")
    assert result.detail.startswith(f"{REFUSED}\n- ")
    assert "touch x" in result.detail
    assert not (tmp_path / "x").exists()


async def test_a_job_has_only_the_tools_it_was_given(tmp_path: Path) -> None:
    script = Script(turn(call("write_file", path="x", content="1")), turn(say("no")))
    async with _engine(tmp_path, script) as engine:
        await _run(engine, _job(tmp_path, mode="auto", tools=["read_file"]))
        assert not (tmp_path / "x").exists()


async def test_a_run_that_takes_too_long_is_stopped_and_its_session_stays_usable(tmp_path: Path) -> None:
    script = Script(turn(say("so"), hold("ever")), turn(say("again")))
    async with _engine(tmp_path, script) as engine:
        result = await _run(engine, replace(_job(tmp_path), timeout=0))
        assert (result.status, result.again) == ("failed", False)
        assert "longer than" in result.detail


@pytest.mark.parametrize(("kind", "again"), [("ProviderAuthFailed", False), ("ProviderUnavailable", True)])
async def test_a_failure_says_whether_it_may_pass(tmp_path: Path, kind: str, *, again: bool) -> None:
    script = Script(turn(fail(kind)), loop=True)
    async with _engine(tmp_path, script) as engine:
        result = await _run(engine, _job(tmp_path))
    assert (result.status, result.again) == ("failed", again)
    assert result.detail


async def test_a_run_ends_at_the_budget_of_its_job_and_tells_what_it_cost(tmp_path: Path) -> None:
    async with priced_model() as (server, options):
        call_it = Say(calls=(Call(name="think", arguments={"thought": "hm"}),), usage=Tokens(input=1000, output=1000))
        server.will_reply(call_it, call_it, Say(text=("so far",), usage=Tokens(input=1000, output=1000)))
        async with _engine(tmp_path, None, more=options["config"]) as engine:
            result = await _run(engine, _job(tmp_path, budget=0.02))
    assert (result.status, result.text, result.again) == ("failed", "so far", False)
    assert "limit" in result.detail
    assert result.cost == from_dollars(3 * COST)


async def test_a_directory_that_is_gone_is_a_failure_with_a_reason(tmp_path: Path) -> None:
    async with _engine(tmp_path, Script(turn(say("x")))) as engine:
        result = await _run(engine, _job(tmp_path / "gone"))
    assert (result.status, result.session_id, result.again) == ("failed", None, False)
    assert "gone" in result.detail


async def test_a_job_of_a_session_goes_on_in_it_while_somebody_has_it_open(tmp_path: Path) -> None:
    script = Script(turn(say("one")), turn(expect("look"), say("two")))
    async with _engine(tmp_path, script) as engine:
        live = await engine.sessions.create(SessionSetup(cwd=str(tmp_path)))
        for words in ("one", "two"):
            result = await _run(engine, _job(tmp_path, session=live.session.id))
            assert (result.text, result.session_id) == (words, live.session.id)


async def test_a_result_is_shown_in_a_session_and_not_told_to_its_model(tmp_path: Path) -> None:
    async with _engine(tmp_path, Script(turn(say("x")))) as engine:
        live = await engine.sessions.create(SessionSetup(cwd=str(tmp_path)))
        session = live.session.id
        await engine.sessions.close(session)
        await ScheduledTurns(engine).tell(session, title="Scheduled job j", text="The log is full.")
        live = await engine.sessions.open(session, SessionSetup(cwd=str(tmp_path)))
        events = await live.session.read()
        assert [event.text for event in events if isinstance(event, TextDelta)] == ["The log is full."]
        assert all(event.local_only for event in events if isinstance(event, MessageStarted))
