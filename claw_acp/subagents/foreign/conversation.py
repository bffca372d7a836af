"""One session with an agent that is another program, in whichever version of the protocol it speaks."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, get_args

from claw_acp.client.agent import Agent
from claw_acp.client.draft_agent import DraftAgent
from claw_acp.contracts.agent_program import AgentProgram
from claw_acp.contracts.mcp_server import HttpServer, McpServerSpec, StdioServer
from claw_acp.core.events import StopReason
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.printable import printable
from claw_acp.core.value import Value
from claw_acp.rpc.errors import RpcError
from claw_acp.schema.authentication import AuthMethodAgent, AuthMethodTerminal
from claw_acp.schema.env_variable import EnvVariable
from claw_acp.schema.mcp import HttpHeader, McpServer, McpServerHttp, McpServerSse, McpServerStdio
from claw_acp.subagents.foreign.failures import AgentProgramFailed, failure_of, wrong_version

_OTHER_VERSION: Final = -32022
_STOPS: Final[Mapping[str, StopReason]] = {stop: stop for stop in get_args(StopReason)}


class TurnEnd(Value):
    """The end of a turn; `tokens` are those that it took, sent and received, if the program says so."""

    stop: StopReason
    tokens: tuple[int, int] = (0, 0)


class Conversation:
    """A session with a program. Every method raises AgentProgramFailed.

    Args:
        agent: The connection.
        program: The program.
    """

    def __init__(self, agent: Agent, program: AgentProgram) -> None:
        self._agent = agent
        self._program = program
        self._draft: DraftAgent | None = None
        self._logins: Sequence[str] = ()
        self._session = ""
        self._additional = False

    async def open(self, roots: Sequence[Path], servers: Sequence[McpServerSpec]) -> None:
        """Agree on a version of the protocol, and start the session; further roots are for those that support them."""
        cwd, *more = roots
        try:
            await self._agree()
            if self._draft is None:
                additional = more if self._additional else ()
                opened = await self._agent.new_session(cwd, mcp_servers=[*_servers(servers)], additional=additional)
                self._session = opened.session_id
            else:
                typed = [_typed(server.to_wire()) for server in _servers(servers)]
                self._session = await self._draft.new_session(cwd, mcp_servers=typed)
        except Exception as error:
            raise failure_of(error, self._program, logins=self._logins) from error

    async def prompt(self, text: str) -> TurnEnd:
        """Run a turn; returns when it has ended and all its updates were handled."""
        try:
            if self._draft is not None:
                return _end(await self._draft.prompt(self._session, text), self._program)
            answer = await self._agent.prompt(self._session, text)
            usage = answer.usage
            tokens = (0, 0) if usage is None else (usage.input_tokens, usage.output_tokens)
            return TurnEnd(stop=answer.stop_reason, tokens=tokens)
        except Exception as error:
            raise failure_of(error, self._program, logins=self._logins) from error

    async def cancel(self) -> bool:
        """Cancel the turn, whose prompt then ends with `cancelled`; False if there is no session yet."""
        if self._session:
            await self._agent.cancel(self._session)
        return bool(self._session)

    async def _agree(self) -> None:
        """Agree on protocol 1, in which files and commands go through us; else on 2."""
        version: object = None
        try:
            answer = await self._agent.initialize()
            version, self._logins = answer.protocol_version, [*map(_way, answer.auth_methods)]
            offered = answer.agent_capabilities.session_capabilities
            self._additional = offered.additional_directories is not None
        except RpcError as error:
            if error.code != _OTHER_VERSION:
                raise
            supported = error.data.get("supported") if isinstance(error.data, Mapping) else None
            versions = supported if isinstance(supported, list) else []
            version = 2 if 2 in versions else versions or "unknown"
        if version == 2:
            self._draft = DraftAgent(self._agent)
            draft = await self._draft.initialize()
            version, methods = draft.get("protocolVersion"), draft.get("authMethods")
            self._logins = [*_ways(methods)]
            if version == 2:
                return
        if version != 1:
            raise wrong_version(self._program, version)


def _end(state: JsonObject, program: AgentProgram) -> TurnEnd:
    stop = state.get("stopReason")
    if stop == "error":
        error = state.get("error")
        reason = error.get("message") if isinstance(error, Mapping) else error
        raise AgentProgramFailed(
            f"The agent {program.name} failed: {printable(str(reason or 'it gave no reason'))[:500]}"
        )
    return TurnEnd(stop=_STOPS.get(str(stop), "end_turn"))


def _servers(servers: Iterable[McpServerSpec]) -> Iterable[McpServer]:
    for server in servers:
        match server:
            case StdioServer():
                env = tuple(EnvVariable(name=name, value=value) for name, value in server.env.items())
                yield McpServerStdio(name=server.name, command=server.command, args=server.args, env=env)
            case HttpServer():
                headers = tuple(HttpHeader(name=name, value=value) for name, value in server.headers.items())
                kind = McpServerSse if server.kind == "sse" else McpServerHttp
                yield kind(name=server.name, url=server.url, headers=headers)
            case _:
                pass  # a server inside the editor cannot be passed on


def _typed(server: JsonObject) -> JsonObject:
    return server if "type" in server else {**server, "type": "stdio"}


def _way(method: AuthMethodAgent) -> str:
    """A way to log in, in a few words."""
    how = printable(method.name)[:100]
    if isinstance(method, AuthMethodTerminal) and method.args:
        return f"{how} (its command with `{printable(' '.join(method.args))[:100]}`, in a terminal)"
    return f"{how} ({printable(method.description)[:200]})" if method.description else how


def _ways(methods: JsonValue) -> Iterable[str]:
    for method in methods if isinstance(methods, list) else ():
        name = method.get("name") if isinstance(method, Mapping) else None
        if isinstance(name, str):
            yield printable(name)[:100]
