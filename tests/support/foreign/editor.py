"""An editor built on the official Python SDK, with the program as its agent.

    async with desk.editor(files=True) as editor: session = await editor.open() ended = await editor.prompt(session,
    "Hello") assert editor.said(session) == "Hi."

The editor knows only the SDK's view of the frames: its models decode them, its accumulator merges them.
"""

# ruff: noqa: ARG002 - the SDK passes every argument of its interface by name

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import anyio
from acp import PROTOCOL_VERSION, Client, RequestError, text_block
from acp.client.connection import ClientSideConnection
from acp.contrib.session_state import SessionAccumulator, SessionSnapshot, ToolCallView
from acp.schema import (
    AcceptElicitationResponse,
    AgentMessageChunk,
    AgentThoughtChunk,
    AllowedOutcome,
    AudioContentBlock,
    ClientCapabilities,
    ConfigOptionUpdate,
    CreateElicitationResponse,
    CreateTerminalResponse,
    DeniedOutcome,
    ElicitationMode,
    EmbeddedResourceContentBlock,
    EnvVariable,
    ImageContentBlock,
    Implementation,
    InitializeResponse,
    KillTerminalResponse,
    PermissionOption,
    PromptResponse,
    ReadTextFileResponse,
    ReleaseTerminalResponse,
    RequestPermissionResponse,
    ResourceContentBlock,
    SessionInfoUpdate,
    SessionNotification,
    TerminalOutputResponse,
    TextContentBlock,
    ToolCallUpdate,
    UsageUpdate,
    UserMessageChunk,
    WaitForTerminalExitResponse,
    WriteTextFileResponse,
)

from tests.support.editors.editor_desk import Files, RpcFailure, Terminals
from tests.support.program.agent_process import TIMEOUT

Block: TypeAlias = (
    TextContentBlock | ImageContentBlock | AudioContentBlock | ResourceContentBlock | EmbeddedResourceContentBlock
)


@dataclass(frozen=True, slots=True)
class Question:
    """A request for permission as the SDK decoded it."""

    session: str
    call: ToolCallUpdate
    options: Sequence[PermissionOption]

    def outcome(self, kind: str) -> RequestPermissionResponse:
        """The answer of this kind, or `cancelled`."""
        if kind == "cancelled":
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        option = next(option for option in self.options if option.kind == kind)
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=option.option_id))


Decide: TypeAlias = Callable[[Question], Awaitable[str]]
FillIn: TypeAlias = Callable[[ElicitationMode], Awaitable[Mapping[str, Any]]]
"""Returns the values for a form, or does the task of a page; the SDK decodes the mode."""


def answering(*kinds: str) -> Decide:
    """Answer the questions with these kinds, in order; one more than that fails the test."""
    left = list(kinds)

    async def decide(question: Question) -> str:
        assert left, f"asked once more than expected: {question.call.title}"
        return left.pop(0)

    return decide


@dataclass(slots=True)
class Turn:
    """A running prompt; `response` is set once its block was left."""

    answer: PromptResponse | None = None

    @property
    def response(self) -> PromptResponse:
        """How it ended."""
        assert self.answer is not None, "the turn still runs"
        return self.answer


class ForeignEditor(Client):
    """The client side of one connection. `decide` answers requests for permission; by default none may come.

    `fill_in` does so for forms and pages, of which by default none may come either.
    """

    def __init__(self, decide: Decide | None = None, fill_in: FillIn | None = None) -> None:
        self.decide = decide or answering()
        self.fill_in = fill_in
        self.completed: list[str] = []
        self.files = Files()
        self.terminals = Terminals()
        self.questions: list[Question] = []
        self.updates: list[tuple[str, Any]] = []
        self._connection: ClientSideConnection | None = None
        self._hello: InitializeResponse | None = None
        self._project = Path()
        self._seen: dict[str, SessionAccumulator] = {}
        self._changed = anyio.Event()

    # ------------------------------------------------------------------ the test's side

    @property
    def agent(self) -> ClientSideConnection:
        """The program, in the SDK's form."""
        assert self._connection is not None
        return self._connection

    @property
    def hello(self) -> InitializeResponse:
        """The program's answer to `initialize`."""
        assert self._hello is not None
        return self._hello

    async def start(self, connection: ClientSideConnection, *, capabilities: ClientCapabilities, project: Path) -> None:
        """Shake hands."""
        self._connection, self._project = connection, project
        info = Implementation(name="foreign-editor", title="Foreign editor", version="1")
        self._hello = await connection.initialize(PROTOCOL_VERSION, client_capabilities=capabilities, client_info=info)

    async def open(self) -> str:
        """A new session in the project."""
        return (await self.agent.new_session(cwd=str(self._project))).session_id

    async def prompt(self, session: str, *content: str | Block) -> PromptResponse:
        """Send a prompt and wait for the end of the turn."""
        blocks = [text_block(item) if isinstance(item, str) else item for item in content]
        with anyio.fail_after(TIMEOUT):
            return await self.agent.prompt(session, blocks)

    @asynccontextmanager
    async def prompting(self, session: str, *content: str | Block) -> AsyncGenerator[Turn]:
        """Run the block during a turn; leaving it waits for the end of the turn."""
        turn = Turn()

        async def run() -> None:
            turn.answer = await self.prompt(session, *content)
            self._tell()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            yield turn

    async def refused(self, session: str, *content: str | Block) -> RequestError:
        """Send a prompt that must fail; returns the error."""
        try:
            response = await self.prompt(session, *content)
        except RequestError as error:
            return error
        raise AssertionError(f"the prompt was answered with {response.stop_reason}, not with an error")

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until a message of the program makes this true."""
        with anyio.fail_after(TIMEOUT):
            while not condition():
                await self._changed.wait()

    def of(self, session: str) -> list[Any]:
        """The updates of a session, in order."""
        return [update for name, update in self.updates if name == session]

    @property
    def known(self) -> set[str]:
        """Sessions with at least one update."""
        return set(self._seen)

    def seen(self, session: str) -> SessionSnapshot:
        """The session as the SDK merged its updates."""
        return self._seen[session].snapshot()

    def said(self, session: str) -> str:
        """All text of the agent."""
        return _text(self.of(session), AgentMessageChunk)

    def thought(self, session: str) -> str:
        """All thinking of the agent."""
        return _text(self.of(session), AgentThoughtChunk)

    def asked(self, session: str) -> str:
        """All prompts in a replay."""
        return _text(self.of(session), UserMessageChunk)

    def tools(self, session: str) -> list[ToolCallView]:
        """The tool calls in the order they were announced."""
        return list(self.seen(session).tool_calls.values()) if session in self.known else []

    def tool(self, session: str) -> ToolCallView:
        """The only tool call."""
        (call,) = self.tools(session)
        return call

    def title(self, session: str) -> str | None:
        """The last title that was announced."""
        titles = [update.title for update in self.of(session) if isinstance(update, SessionInfoUpdate)]
        return titles[-1] if titles else None

    def usage(self, session: str) -> UsageUpdate | None:
        """The last count of the context."""
        counts = [update for update in self.of(session) if isinstance(update, UsageUpdate)]
        return counts[-1] if counts else None

    def option(self, session: str, option_id: str) -> object:
        """The value of an option in the last update of options."""
        updates = [update for update in self.of(session) if isinstance(update, ConfigOptionUpdate)]
        (value,) = [item.current_value for item in updates[-1].config_options if item.id == option_id]
        return value

    def _tell(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    # ------------------------------------------------------------------ what the SDK calls

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        """`session/update`."""
        self.updates.append((session_id, update))
        seen = self._seen.setdefault(session_id, SessionAccumulator(auto_reset_on_session_change=False))
        seen.apply(SessionNotification(session_id=session_id, update=update))
        self._tell()

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **kwargs: Any
    ) -> RequestPermissionResponse:
        """`session/request_permission`."""
        question = Question(session_id, tool_call, options)
        self.questions.append(question)
        self._tell()
        return question.outcome(await self.decide(question))

    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None, **kwargs: Any
    ) -> ReadTextFileResponse:
        """`fs/read_text_file`."""
        try:
            return ReadTextFileResponse(**self.files.read({"path": path, "line": line, "limit": limit}))
        except RpcFailure as failure:
            raise RequestError(failure.code, failure.message) from failure

    async def write_text_file(self, session_id: str, path: str, content: str, **kwargs: Any) -> WriteTextFileResponse:
        """`fs/write_text_file`."""
        self.files.write({"path": path, "content": content})
        return WriteTextFileResponse()

    async def create_terminal(
        self,
        session_id: str,
        command: str,
        args: list[str] | None = None,
        env: list[EnvVariable] | None = None,
        cwd: str | None = None,
        output_byte_limit: int | None = None,
        **kwargs: Any,
    ) -> CreateTerminalResponse:
        """`terminal/create`."""
        pairs = [{"name": pair.name, "value": pair.value} for pair in env or ()]
        params = {"command": command, "args": args or [], "env": pairs, "cwd": cwd}
        created = self.terminals.create(params | {"outputByteLimit": output_byte_limit})
        return CreateTerminalResponse(terminal_id=created["terminalId"])

    async def terminal_output(self, session_id: str, terminal_id: str, **kwargs: Any) -> TerminalOutputResponse:
        """`terminal/output`."""
        return TerminalOutputResponse.model_validate(self.terminals.output({"terminalId": terminal_id}))

    async def wait_for_terminal_exit(
        self, session_id: str, terminal_id: str, **kwargs: Any
    ) -> WaitForTerminalExitResponse:
        """`terminal/wait_for_exit`."""
        return WaitForTerminalExitResponse.model_validate(
            await self.terminals.wait_for_exit({"terminalId": terminal_id})
        )

    async def kill_terminal(self, session_id: str, terminal_id: str, **kwargs: Any) -> KillTerminalResponse:
        """`terminal/kill`."""
        self.terminals.kill({"terminalId": terminal_id})
        return KillTerminalResponse()

    async def release_terminal(self, session_id: str, terminal_id: str, **kwargs: Any) -> ReleaseTerminalResponse:
        """`terminal/release`."""
        self.terminals.release({"terminalId": terminal_id})
        return ReleaseTerminalResponse()

    async def create_elicitation(self, message: str, mode: ElicitationMode, **kwargs: Any) -> CreateElicitationResponse:
        """Fail: without the capability this must not be called; the failure becomes a complaint of the SDK."""
        assert self.fill_in is not None, f"an elicitation without the capability: {message}"
        return AcceptElicitationResponse(action="accept", content=dict(await self.fill_in(mode)) or None)

    async def complete_elicitation(self, elicitation_id: str, **kwargs: Any) -> None:
        """Fail, as `create_elicitation`."""
        assert self.fill_in is not None, "an elicitation without the capability"
        self.completed.append(elicitation_id)
        self._tell()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Fail: no extension was agreed on."""
        raise AssertionError(f"the program called _{method}")

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Fail: no extension was agreed on."""
        raise AssertionError(f"the program sent _{method}")

    def on_connect(self, conn: object) -> None:
        """See `Client`."""


def _text(updates: Sequence[Any], kind: type[AgentMessageChunk | AgentThoughtChunk | UserMessageChunk]) -> str:
    chunks = [update.content for update in updates if isinstance(update, kind)]
    return "".join(content.text for content in chunks if isinstance(content, TextContentBlock))
