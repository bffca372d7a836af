"""An editor for tests: it spawns the real program and speaks ACP with it, frame by frame.

It has its own JSON-RPC, so that a fault in ours cannot hide, and can misbehave: send broken bytes and half frames, stop
reading, leave questions open. Everything the program writes is judged against the official schema and the rules of
order; the first breach fails the test. At the end the program must exit in time, with code 0, without remaining
processes and without a traceback in its log.
"""

import inspect
import json
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, cast

import anyio

from tests.support.editors.editor_desk import SILENCE, Files, Handler, Question, Terminals
from tests.support.editors.exchange import Call, Json, Outcome, RpcFailure, spoken, tool_calls
from tests.support.editors.raw_client import RawClient
from tests.support.judges.official_schema import Judge, OfficialSchema
from tests.support.program.agent_in_process import PROGRAM, start_agent
from tests.support.program.agent_process import AgentProcess
from tests.support.quiet import QUIET
from tests.support.script_files import Script, configure

FULL: Json = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
"""The capabilities of an editor that serves files and terminals."""

KEPT = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")


class Editor(RawClient):
    """A client with one agent. Made by `spawned`, or by `opened` with a session ready in it.

    Attributes:
        version: The protocol version whose rules apply.
    """

    version: ClassVar[int] = 1

    def __init__(self, process: AgentProcess, *, project: Path, script: Script, judge: Judge) -> None:
        super().__init__(process, judge=judge)
        self.project = project
        self.script = script
        self.capabilities: Json = {}
        self.session = ""
        self.questions: list[Question] = []
        self.files = Files()
        self.terminals = Terminals()
        self._answers: list[str | RpcFailure | Json | None] = []
        self._handlers: dict[str, Handler] = {
            "fs/read_text_file": self.files.read,
            "fs/write_text_file": self.files.write,
            "terminal/create": self.terminals.create,
            "terminal/output": self.terminals.output,
            "terminal/wait_for_exit": self.terminals.wait_for_exit,
            "terminal/kill": self.terminals.kill,
            "terminal/release": self.terminals.release,
        }

    @classmethod
    @asynccontextmanager
    async def spawned(
        cls,
        *,
        project: Path,
        home: Path,
        script: Script | None = None,
        capabilities: Json | None = None,
        config: str = "",
        env: Mapping[str, str | None] | None = None,
        python: Sequence[str] = PROGRAM,
        stderr_to_stdout: bool = False,
        late_cancel: Literal["refused", "allowed"] = "refused",
        prompted_by: Literal["us", "anyone"] = "us",
    ) -> AsyncGenerator[Self]:
        """Start the program without sending anything.

        Args:
            project: The directory the program runs in, and sessions by default.
            home: `HOME`; the program's own directory is `claw` in it.
            script: The script of the model; without one, no provider is configured.
            capabilities: What `initialize` will offer.
            config: More TOML for the top of the configuration file.
            env: More environment; None takes a variable away.
            python: The interpreter's arguments.
            stderr_to_stdout: Start it as with `2>&1`.
            late_cancel: See `Judge`.
            prompted_by: See `Judge`.
        """
        claw = home / "claw"
        configure(claw, script, more=config)
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        environment = {**kept, **QUIET, "HOME": str(home), "CLAW_ACP_HOME": str(claw), **(env or {})}
        process = start_agent(
            python,
            cwd=project,
            env={name: value for name, value in environment.items() if value is not None},
            stderr=home / f"stderr-{os.urandom(4).hex()}.txt",
            stderr_to_stdout=stderr_to_stdout,
        )
        editor = cls(
            process,
            project=project,
            script=script or Script(),
            judge=Judge(OfficialSchema.load(cls.version), late_cancel=late_cancel, prompted_by=prompted_by),
        )
        editor.capabilities = capabilities or {}
        async with _torn_down(editor), anyio.create_task_group() as tasks:
            tasks.start_soon(process.run)
            tasks.start_soon(editor.read, tasks)
            yield editor
            if not editor.over:
                await editor.leave()
            tasks.cancel_scope.cancel()

    @classmethod
    @asynccontextmanager
    async def opened(
        cls, *, project: Path, home: Path, script: Script | None = None, **options: Any
    ) -> AsyncGenerator[Self]:
        """Spawn, initialize and open a session, whose id is in `session`."""
        async with cls.spawned(project=project, home=home, script=script, **options) as editor:
            await editor.initialize()
            await editor.new_session()
            yield editor

    # ------------------------------------------------------------------ calls

    async def initialize(self, **params: Any) -> Json:
        """`initialize` for protocol 1."""
        asked: Json = {"protocolVersion": 1, "clientCapabilities": self.capabilities, **params}
        return await self.request("initialize", asked)

    async def new_session(self, **params: Any) -> Json:
        """`session/new` in the project; `session` is the new one from now on."""
        result = await self.request("session/new", {"cwd": str(self.project), "mcpServers": [], **params})
        self.session = result["sessionId"]
        return result

    async def load(self, session: str, **params: Any) -> tuple[Json, list[Json]]:
        """`session/load`: its result and what was replayed."""
        asked: Json = {"sessionId": session, "cwd": str(self.project), "mcpServers": [], **params}
        call = await self.start("session/load", asked)
        result = await call.result()
        self.session = session
        return result, call.updates

    async def start_prompt(self, content: str | list[Json], *, session: str | None = None) -> Call:
        """Send a prompt and do not wait."""
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        return await self.start("session/prompt", {"sessionId": session or self.session, "prompt": blocks})

    async def prompt(self, content: str | list[Json], *, session: str | None = None) -> Outcome:
        """Send a prompt and wait for the end of its turn."""
        return await (await self.start_prompt(content, session=session)).outcome()

    async def cancel(self, session: str | None = None, *, answering: bool = True) -> None:
        """Send `session/cancel`; as the protocol requires, open questions are answered with `cancelled`."""
        session = session or self.session
        await self.notify("session/cancel", {"sessionId": session})
        if answering:
            for question in [question for question in self.questions if question.params["sessionId"] == session]:
                await self.answer(question, "cancelled")

    # ------------------------------------------------------------------ waiting and looking

    async def wait_for_text(self, text: str, *, kind: str = "agent_message_chunk") -> None:
        """Wait until chunks of this kind contain a text."""
        await self.wait_for(lambda: text in spoken(self.updates(), kind), f"{text!r}")

    async def wait_for_call(self, status: str) -> Json:
        """Wait until some tool call has this status; returns it."""

        def found() -> list[Json]:
            return [call for call in tool_calls(self.updates()).values() if call.get("status") == status]

        await self.wait_for(found, f"a tool call that is {status}")
        return found()[0]

    async def wait_for_question(self) -> Question:
        """Wait until permission is asked and the question is open."""
        await self.wait_for(lambda: self.questions, "a question")
        return self.questions[0]

    # ------------------------------------------------------------------ serving the agent

    def will_answer(self, *answers: str | RpcFailure | Json | None) -> None:
        """Set the answers to permission questions, one after the other; the last one repeats.

        Each is a kind of option, `cancelled`, an error, a raw result, or None: leave the question open.
        """
        self._answers = list(answers)

    def serve(self, method: str, handler: Handler) -> None:
        """Replace the handler of a method that the agent calls."""
        self._handlers[method] = handler

    async def answer(self, question: Question, answer: str | Json | RpcFailure) -> None:
        """Answer a question that was left open."""
        self.questions.remove(question)
        result = question.outcome(answer) if isinstance(answer, str) else answer
        await self._reply(question.id, result)

    async def _ask(self, request_id: object, params: Json) -> None:
        assert self._answers, f"nobody expected a question: {json.dumps(params)}"
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        question = Question(request_id, params)
        self.questions.append(question)
        self._tell()
        if answer is not None:
            await self.answer(question, answer)

    async def serve_call(self, message: Json) -> None:
        """See `RawClient`."""
        method: str = message["method"]
        params: Json = message.get("params") or {}
        if method == "session/request_permission" and method not in self._handlers:
            await self._ask(message["id"], params)
            return
        handler = self._handlers.get(method)
        try:
            result = RpcFailure(-32601, f"Method not found: {method}") if handler is None else handler(params)
            if inspect.isawaitable(result):
                result = await result
        except RpcFailure as failure:
            result = failure
        if result is not SILENCE:
            await self._reply(message["id"], result)

    async def _reply(self, request_id: object, result: Any) -> None:
        answer: Json = {"jsonrpc": "2.0", "id": request_id}
        if isinstance(result, RpcFailure):
            data = {} if result.data is None else {"data": result.data}
            answer["error"] = {"code": result.code, "message": result.message, **data}
        else:
            answer["result"] = result
        with suppress(BrokenPipeError):  # the agent left meanwhile
            await self.send(answer)


@asynccontextmanager
async def _torn_down(editor: Editor) -> AsyncGenerator[None]:
    """Clean up, and raise failures unwrapped, with the program's output."""
    try:
        yield
    except BaseException as error:  # noqa: BLE001 - re-raised as it is, or as what the group held
        cause = _only(error)
        if isinstance(cause, AssertionError) and "stderr:" not in str(cause):
            cause.add_note(editor.report())
        raise cause from cause.__cause__
    finally:
        editor.process.destroy()
        editor.terminals.close()


def _only(error: BaseException) -> BaseException:
    """The first failure inside an exception group, which is the one that counts."""
    if isinstance(error, BaseExceptionGroup):
        return _only(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
    return error
