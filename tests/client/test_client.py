import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from claw_acp.client.agent import Agent, AgentGone, AgentMisbehaved
from claw_acp.client.handlers import Handlers, LocalFiles, OnForm
from claw_acp.client.spawn import spawn_agent
from claw_acp.rpc.errors import RpcError
from claw_acp.schema.content import TextContent
from claw_acp.schema.elicitation import CreateElicitationRequest, CreateElicitationResponse
from claw_acp.schema.permission import PermissionOption, RequestPermissionRequest
from claw_acp.schema.updates import ContentChunk, SessionUpdate

SMALL_AGENT = [sys.executable, str(Path(__file__).with_name("small_agent.py"))]


@dataclass
class Heard:
    """What the agent said, and how its questions are answered."""

    texts: list[str] = field(default_factory=list[str])
    questions: anyio.Event = field(default_factory=anyio.Event)
    patient: bool = False

    async def update(self, session: str, update: SessionUpdate) -> None:
        del session
        await anyio.lowlevel.checkpoint()
        if isinstance(update, ContentChunk) and isinstance(update.content, TextContent):
            self.texts.append(update.content.text)

    async def permission(self, request: RequestPermissionRequest) -> PermissionOption | None:
        self.questions.set()
        if self.patient:
            await anyio.sleep_forever()
        return request.options[0]


@asynccontextmanager
async def small_agent(
    heard: Heard, *, serving: bool = True, form: OnForm | None = None, **env: str
) -> AsyncGenerator[Agent]:
    handlers = Handlers(
        update=heard.update,
        permission=heard.permission,
        form=form,
        files=LocalFiles() if serving else None,
        terminals=serving,
    )
    with anyio.fail_after(20):
        async with spawn_agent(SMALL_AGENT, handlers=handlers, env={**os.environ, **env}) as agent:
            await agent.initialize()
            yield agent


async def say(agent: Agent, heard: Heard, text: str) -> str:
    """Prompt, and what was heard last in that turn."""
    await agent.prompt("s1", text)
    return heard.texts[-1]


def is_alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


async def test_capabilities_are_those_of_the_handlers() -> None:
    handlers = Handlers(update=Heard().update, permission=Heard().permission, files=LocalFiles())
    async with spawn_agent(SMALL_AGENT, handlers=handlers) as agent:
        answer = await agent.initialize()

    assert answer.protocol_version == 1
    asked = json.loads(json.dumps(answer.meta))["asked"]
    assert asked["clientCapabilities"]["fs"] == {"readTextFile": True, "writeTextFile": True}
    assert asked["clientCapabilities"]["terminal"] is False


async def test_a_prompt_returns_when_every_update_was_heard_in_order() -> None:
    heard = Heard()
    async with small_agent(heard) as agent:
        response = await agent.prompt("s1", "count 200")
        assert heard.texts == [str(number) for number in range(200)]

    assert response.stop_reason == "end_turn"


async def test_an_update_of_an_unknown_kind_is_passed_over() -> None:
    heard = Heard()
    async with small_agent(heard) as agent:
        assert await say(agent, heard, "odd") == "after"


async def test_a_permission_question_gets_the_chosen_option() -> None:
    heard = Heard()
    async with small_agent(heard) as agent:
        outcome = json.loads(await say(agent, heard, "ask"))

    assert outcome == {"outcome": {"outcome": "selected", "optionId": "yes"}}


async def test_cancelling_answers_open_questions_with_cancelled() -> None:
    heard = Heard(patient=True)
    async with small_agent(heard) as agent, anyio.create_task_group() as tasks:

        async def cancel_when_asked() -> None:
            await heard.questions.wait()
            await agent.cancel("s1")

        tasks.start_soon(cancel_when_asked)
        outcome = json.loads(await say(agent, heard, "ask"))
        assert outcome == {"outcome": {"outcome": "cancelled"}}


async def test_files_are_read_in_windows_and_written(tmp_path: Path) -> None:
    heard = Heard()
    path = tmp_path / "new" / "a.txt"
    async with small_agent(heard) as agent:
        write = json.dumps({"path": str(path), "content": "one\ntwo\nthree\n"})
        assert json.loads(await say(agent, heard, f"call fs/write_text_file {write}")) == {}
        read = json.dumps({"path": str(path), "line": 2, "limit": 1})
        assert json.loads(await say(agent, heard, f"call fs/read_text_file {read}")) == {"content": "two\n"}

    assert path.read_text() == "one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"path": "a.txt"}, "must be an absolute path"),
        ({"path": "/nowhere/at/all"}, "No such file"),
        ({}, "`path` is missing"),
    ],
)
async def test_a_file_that_cannot_be_read_is_an_error_with_a_reason(params: dict[str, str], problem: str) -> None:
    heard = Heard()
    async with small_agent(heard) as agent:
        error = json.loads(await say(agent, heard, f"call fs/read_text_file {json.dumps(params)}"))

    assert problem in error["message"]


async def test_a_terminal_runs_a_line_and_keeps_the_end_of_its_output() -> None:
    heard = Heard()
    async with small_agent(heard) as agent:
        answer = json.loads(await say(agent, heard, "terminal printf 0123456789äöü; exit 3"))

    ended, output, after_release = answer
    assert ended == {"exitCode": 3}
    assert output == {"output": "6789äöü", "truncated": True, "exitStatus": {"exitCode": 3}}
    assert after_release == -32602


async def test_terminals_left_running_end_with_the_agent() -> None:
    heard = Heard()
    async with small_agent(heard) as agent:
        terminal = await say(agent, heard, "leave echo $$; exec sleep 60")
        with anyio.fail_after(5):
            while not agent.terminals.shown(terminal).strip():
                await anyio.lowlevel.checkpoint()
        pid = int(agent.terminals.shown(terminal))
        assert is_alive(pid)

    assert not is_alive(pid)


async def test_methods_that_are_not_offered_are_not_served() -> None:
    heard = Heard()
    async with small_agent(heard, serving=False) as agent:
        for method in ("fs/read_text_file", "terminal/create", "session/nonsense"):
            assert json.loads(await say(agent, heard, f"call {method}"))["code"] == -32601


async def test_every_page_of_a_list_is_fetched() -> None:
    async with small_agent(Heard()) as agent:
        sessions = await agent.list_sessions()

    assert [session.session_id for session in sessions] == ["s0", "s1", "s2"]


async def test_an_error_answer_arrives_as_itself_and_not_in_a_group() -> None:
    with pytest.raises(RpcError, match="no session/close"):
        async with small_agent(Heard()) as agent:
            await agent.close_session("s1")


async def test_an_answer_without_what_it_must_have_is_reported() -> None:
    async with small_agent(Heard()) as agent:
        with pytest.raises(AgentMisbehaved, match="`stopReason` is missing"):
            await agent.prompt("s1", "bad")


async def test_an_agent_that_dies_says_how_and_with_which_last_words() -> None:
    async with small_agent(Heard()) as agent:
        with pytest.raises(AgentGone, match=r"before it answered session/prompt with exit code 3: I am ill"):
            await agent.prompt("s1", "die")


async def test_a_program_that_does_not_exist_is_reported() -> None:
    with pytest.raises(AgentGone, match="/no/such/agent cannot be started: No such file"):
        async with spawn_agent(
            ["/no/such/agent"], handlers=Handlers(update=Heard().update, permission=Heard().permission)
        ):
            pass


async def test_an_agent_that_does_not_leave_is_killed() -> None:
    async with small_agent(Heard(), SMALL_AGENT_STUBBORN="1") as agent:
        await agent.prompt("s1", "count 1")


async def test_what_the_agent_started_ends_with_it() -> None:
    heard = Heard()
    async with small_agent(heard) as agent:
        pid = int(await say(agent, heard, "child"))
        assert is_alive(pid)

    with anyio.fail_after(5):  # a killed process still takes a moment to go
        while is_alive(pid):
            await anyio.lowlevel.checkpoint()


# ------------------------------------------------------------------ forms

FORM = {"mode": "form", "message": "m", "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}


async def test_a_form_is_filled_in_by_the_handler() -> None:
    heard = Heard()

    async def fill_in(request: CreateElicitationRequest) -> CreateElicitationResponse:
        assert request.requested_schema is not None
        return CreateElicitationResponse(
            action="accept", content=dict.fromkeys(request.requested_schema.properties, "x")
        )

    async with small_agent(heard, form=fill_in) as agent:
        asked = json.dumps(FORM)
        assert json.loads(await say(agent, heard, f"call elicitation/create {asked}")) == {
            "action": "accept",
            "content": {"a": "x"},
        }
        url = json.dumps({"mode": "url", "message": "m", "elicitationId": "e", "url": "https://example.org/"})
        assert json.loads(await say(agent, heard, f"call elicitation/create {url}"))["code"] == -32602


async def test_without_a_handler_there_are_no_forms() -> None:
    heard = Heard()
    async with small_agent(heard) as agent:
        refused = json.loads(await say(agent, heard, f"call elicitation/create {json.dumps(FORM)}"))
        assert refused["code"] == -32601


async def test_cancelling_dismisses_an_open_form() -> None:
    heard = Heard()

    async def wait(request: CreateElicitationRequest) -> CreateElicitationResponse:
        heard.questions.set()
        await anyio.sleep_forever()
        raise AssertionError(request)

    async with small_agent(heard, form=wait) as agent, anyio.create_task_group() as tasks:
        tasks.start_soon(say, agent, heard, f"call elicitation/create {json.dumps(FORM)}")
        await heard.questions.wait()
        await agent.cancel("s1")
    assert json.loads(heard.texts[-1]) == {"action": "cancel"}
