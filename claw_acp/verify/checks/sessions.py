"""Opening sessions: ids, directories, unknown fields, MCP servers."""

import sys

import anyio

from claw_acp.core.json_value import JsonObject
from claw_acp.rpc.message import INVALID_PARAMS, METHOD_NOT_FOUND
from claw_acp.schema.errors import AUTHENTICATION_REQUIRED, RESOURCE_NOT_FOUND
from claw_acp.verify.answers import exchange, must_fail, must_succeed
from claw_acp.verify.check import checks_in, must, should
from claw_acp.verify.check_run import CheckRun
from claw_acp.verify.frames import text_of
from claw_acp.verify.needs import greeted, offers, session, slow, turn
from claw_acp.verify.rule import Failed, NotTried

_PAGE = "session-setup"
_ROOTS = "sessionCapabilities.additionalDirectories"
NOBODY = "verify-no-such-session"
RELATIVE = ("src", "./src", "~/src", "")
SERVER_STARTS = 15.0  # seconds an agent has to start an MCP server, which it may do after the session was opened
PARALLEL = 5  # sessions opened at once


@must("session.opens", greeted, source=f"{_PAGE}; TCK ACP-SESSION-001")
async def opens(attempt: CheckRun) -> None:
    """session/new is answered with the id of the session, a string that is not empty."""
    async with attempt.agent() as agent:
        answer = await agent.ask("session/new", attempt.opening())
        if answer.code == AUTHENTICATION_REQUIRED:
            raise NotTried("session/new was answered with error -32000; give --auth-method, --env or --keep-home")
        must_succeed(answer, "session/new")
        if not text_of(answer.result, "sessionId"):
            raise Failed("there is no sessionId in the result", exchange(answer))


@must("session.unique-ids", session, source=f"{_PAGE}; TCK ACP-SESSION-002")
async def unique_ids(attempt: CheckRun) -> None:
    """Each session has an id of its own, also when several are opened at once."""
    async with attempt.agent() as agent:
        calls = [agent.call("session/new", attempt.opening()) for _ in range(PARALLEL)]
        answers = [await agent.answered(call) for call in calls]
        for answer in answers:
            must_succeed(answer, f"one of {PARALLEL} session/new at once")
        ids = {text_of(answer.result, "sessionId") for answer in answers}
        if len(ids) < PARALLEL:
            raise Failed(f"{PARALLEL} sessions have {len(ids)} different ids", answers)


@should("session.relative-cwd", session, source=_PAGE, cases=(38,))
async def relative_cwd(attempt: CheckRun) -> None:
    """A cwd that is no absolute path is refused with error -32602."""
    async with attempt.agent() as agent:
        for path in RELATIVE:
            answer = await agent.ask("session/new", attempt.opening(cwd=path))
            must_fail(answer, f"session/new with the relative cwd {path!r}", [INVALID_PARAMS])


@must("session.unknown-fields", session, source="extensibility", cases=(18, 43))
async def foreign_fields(attempt: CheckRun) -> None:
    """Unknown fields are ignored, and _meta may hold anything, or be null."""
    async with attempt.agent() as agent:
        meta: JsonObject = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "x": [1, None]}
        for more in ({"_meta": meta, "mood": "fine"}, {"_meta": None}):
            must_succeed(await agent.ask("session/new", attempt.opening(**more)), "session/new with unknown fields")


@must(
    "session.additional-directories", session, offers(_ROOTS), source=f"{_PAGE}; TCK ACP-ADDDIRS-001, 201", cases=(39,)
)
async def directories(attempt: CheckRun) -> None:
    """session/new takes additional directories when the agent offers them."""
    async with attempt.agent() as agent:
        opening = attempt.opening(additionalDirectories=[str(attempt.options.cwd.parent)])
        must_succeed(await agent.ask("session/new", opening), "session/new with additionalDirectories")


@should("session.relative-directories", session, offers(_ROOTS), source=_PAGE, cases=(39,))
async def relative_directories(attempt: CheckRun) -> None:
    """An additional directory that is no absolute path is refused with error -32602."""
    async with attempt.agent() as agent:
        opening = attempt.opening(additionalDirectories=["elsewhere"])
        must_fail(await agent.ask("session/new", opening), "a relative additional directory", [INVALID_PARAMS])


# ------------------------------------------------------------------ unknown and unoffered


@should("session.unknown-refused", session, source="errors; TCK ACP-INFO-UNKNOWNSESSION-001", cases=(14,))
async def unknown_session(attempt: CheckRun) -> None:
    """Whatever is asked of a session that was never opened is answered with error -32002."""
    async with attempt.agent() as agent:
        for method, params in _of_session(attempt, NOBODY):
            answer = await agent.ask(method, params)
            must_fail(answer, f"{method} for an unknown session", [RESOURCE_NOT_FOUND])


def _of_session(attempt: CheckRun, name: str) -> list[tuple[str, JsonObject]]:
    """Requests about a session that the agent supports."""
    where = attempt.opening(sessionId=name)
    requests: list[tuple[str, JsonObject]] = [("session/prompt", attempt.prompt_params(name))]
    if attempt.facts.offers("loadSession"):
        requests.append(("session/load", where))
    if attempt.facts.offers("sessionCapabilities.resume"):
        requests.append(("session/resume", where))
    if attempt.facts.modes:
        requests.append(("session/set_mode", {"sessionId": name, "modeId": attempt.facts.modes[0]}))
    return requests


UNOFFERED = {
    "session/load": "loadSession",
    "session/list": "sessionCapabilities.list",
    "session/resume": "sessionCapabilities.resume",
    "session/close": "sessionCapabilities.close",
    "session/delete": "sessionCapabilities.delete",
    "session/fork": "sessionCapabilities.fork",
}


@should("session.unoffered-methods", session, source="errors")
async def unoffered(attempt: CheckRun) -> None:
    """A method whose capability the agent does not offer is answered with error -32601."""
    async with attempt.in_session() as (agent, opened):
        where = attempt.opening(sessionId=opened)
        for method, capability in UNOFFERED.items():
            if not attempt.facts.offers(capability):
                answer = await agent.ask(method, {} if method == "session/list" else where)
                must_fail(answer, f"{method}, which is not offered,", [METHOD_NOT_FOUND])


@must("session.side-by-side", slow, turn, source="prompt-turn", cases=(32,))
async def side_by_side(attempt: CheckRun) -> None:
    """A session that is busy holds up no other, nor the opening of one."""
    async with attempt.agent() as agent:
        busy, idle = await attempt.session(agent), await attempt.session(agent)
        held = await attempt.slow_turn(agent, busy)
        other = await attempt.ended(agent, attempt.prompt(agent, idle))
        must_succeed(other, "a prompt in one session while another is busy")
        must_succeed(await agent.ask("session/new", attempt.opening()), "session/new while a session is busy")
        await attempt.over(agent, busy, held)


# ------------------------------------------------------------------ MCP servers

_SERVER = """\
import json, pathlib, sys
pathlib.Path(sys.argv[1]).touch()
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {"tools": [], "resources": [], "prompts": []}
    if message["method"] == "initialize":
        version = message["params"].get("protocolVersion", "2025-06-18")
        who = {"name": "verify", "version": "1"}
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": who}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


@should("mcp.stdio-server-starts", turn, source=_PAGE, cases=(40,))
async def server_starts(attempt: CheckRun) -> None:
    """The agent connects to the stdio MCP servers that the client names."""
    async with attempt.fresh() as agent:
        mark = attempt.scratch / "mcp-server-started"
        server = attempt.dialect.server("verify", sys.executable, "-c", _SERVER, str(mark))
        opened = await attempt.lead_up(agent, "session/new", attempt.opening(mcpServers=[server]))
        await attempt.ended(agent, attempt.prompt(agent, text_of(opened.result, "sessionId")))
        with anyio.move_on_after(min(SERVER_STARTS, attempt.options.timeout)):
            while not await anyio.Path(mark).exists():  # noqa: ASYNC110 - a process of the agent's makes it
                await anyio.sleep(0.02)
            return
        raise Failed("the stdio MCP server of session/new was never started", exchange(opened))


@should("mcp.broken-server", session, source=_PAGE, cases=(40,))
async def broken_server(attempt: CheckRun) -> None:
    """An MCP server that cannot be started does not keep the session from opening."""
    async with attempt.fresh() as agent:
        make = attempt.dialect.server
        servers = [make("missing", "/no/such/program"), make("dies", sys.executable, "-c", "exit(3)")]
        answer = await agent.ask("session/new", attempt.opening(mcpServers=servers))
        must_succeed(answer, "session/new with MCP servers that cannot be started")


@should("mcp.unoffered-transport", session, source=f"{_PAGE}; errors", cases=(40,))
async def unoffered_transport(attempt: CheckRun) -> None:
    """An MCP server of a kind that the agent does not offer is refused with error -32602."""
    async with attempt.agent() as agent:
        for kind in ("http", "sse"):
            if not attempt.facts.offers(f"mcpCapabilities.{kind}"):
                server: JsonObject = {"type": kind, "name": kind, "url": "http://127.0.0.1:9/", "headers": []}
                answer = await agent.ask("session/new", attempt.opening(mcpServers=[server]))
                must_fail(answer, f"an MCP server of type {kind}, which is not offered,", [INVALID_PARAMS])


CHECKS = checks_in(globals())
