"""Checks of `initialize` and logging in."""

from collections.abc import Sequence

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.message import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND
from claw_acp.verify.agent_connection import AgentConnection
from claw_acp.verify.agent_pool import AgentPool
from claw_acp.verify.answers import exchange, must_fail, must_succeed
from claw_acp.verify.check import ONLY_1, advice, checks_in, must, should
from claw_acp.verify.check_run import CheckRun
from claw_acp.verify.frames import Frame, as_object, text_of
from claw_acp.verify.needs import greeted, offers, offers_not, session
from claw_acp.verify.rule import Failed, NotJudged, NotTried, Skipped

_PAGE = "initialization"
UNSUPPORTED_VERSION = -32022
FUTURE = 65535  # the highest number a version can have
INFO: JsonObject = {"name": "claw-acp-verify", "version": "1"}  # what newer versions of the protocol ask for
NO_VERSIONS: Sequence[JsonValue] = ("1", 1.5, True, -1, None)
MALFORMED: JsonObject = {"fs": 7, "terminal": "yes", "session": ["notices"], "auth": None, "elicitation": {"form": 1}}
FOREIGN: JsonObject = {"fs": {"readTextFile": False, "teleport": True}, "telepathy": {"level": 3}, "_meta": {"a": 1}}


async def _hello(agent: AgentConnection, attempt: CheckRun, **changes: JsonValue) -> Frame:
    return await agent.ask("initialize", {**attempt.hello(capabilities={}), **changes})


def _version(answer: Frame) -> JsonValue:
    """The agreed version, which must be an integer."""
    must_succeed(answer, "initialize")
    version = answer.result.get("protocolVersion")
    if not isinstance(version, int) or isinstance(version, bool):
        raise Failed(f"protocolVersion is {version!r}, not an integer", exchange(answer))
    return version


@must("initialize.answers", source=f"{_PAGE}; TCK ACP-INIT-001, 002, 201", cases=(16, 51))
async def answers(attempt: CheckRun) -> None:
    """Initialize is answered with the protocol version, an integer: the one asked for if the agent speaks it."""
    async with attempt.bare() as agent:
        answer = await _hello(agent, attempt)
        wanted = attempt.options.protocol
        if (version := _version(answer)) != wanted:
            raise Failed(f"version {wanted} was asked for, and {version} answered", exchange(answer))


@must("initialize.needs-only-the-version", greeted, source=_PAGE, versions=ONLY_1)
async def minimal(attempt: CheckRun) -> None:
    """Capabilities and clientInfo may be left out."""
    async with attempt.bare() as agent:
        answer = await agent.ask("initialize", {"protocolVersion": attempt.options.protocol})
        must_succeed(answer, "initialize with nothing but the version")


@must("initialize.version-65535", greeted, source=f"{_PAGE}; TCK ACP-INIT-003", cases=(16,))
async def future_version(attempt: CheckRun) -> None:
    """A version that the agent does not speak is answered with one that it speaks, never echoed and never an error."""
    async with attempt.bare() as agent:
        answer = await _hello(agent, attempt, protocolVersion=FUTURE, info=INFO)
        must_succeed(answer, f"initialize for version {FUTURE}")
        if answer.result.get("protocolVersion") == FUTURE:
            raise Failed(f"version {FUTURE} was echoed, which does not exist", exchange(answer))


@must("initialize.version-2", greeted, source=_PAGE, cases=(16,), versions=ONLY_1)
async def next_version(attempt: CheckRun) -> None:
    """A request for version 2 is answered with 2, or with 1."""
    async with attempt.bare() as agent:
        answer = await _hello(agent, attempt, protocolVersion=2, info=INFO, capabilities={})
        must_succeed(answer, "initialize for version 2")
        if str(answer.result.get("protocolVersion")) not in {"1", "2"}:
            raise Failed("version 2 was asked for: the answer is 2, or 1 where 2 is not spoken", exchange(answer))


@should("initialize.version-0", greeted, source=_PAGE, cases=(16,))
async def version_zero(attempt: CheckRun) -> None:
    """A request for version 0 is answered with a version that is spoken, or with error -32022."""
    async with attempt.bare() as agent:
        answer = await _hello(agent, attempt, protocolVersion=0)
        if answer.error is None:
            if answer.result.get("protocolVersion") == 0:
                raise Failed("version 0 was echoed, which does not exist", exchange(answer))
        elif answer.code != UNSUPPORTED_VERSION:
            raise Failed(f"it was refused with {answer.code}, not {UNSUPPORTED_VERSION}", exchange(answer))


@should("initialize.version-not-an-integer", greeted, source=f"{_PAGE}; errors", cases=(16,))
async def no_version(attempt: CheckRun) -> None:
    """A protocolVersion that is missing, or no integer from 0 to 65535, is answered with error -32602."""
    async with attempt.bare() as agent:
        for version in NO_VERSIONS:
            params = attempt.hello(capabilities={})
            del params["protocolVersion"]
            asked: JsonObject = params if version is None else {**params, "protocolVersion": version}
            answer = await agent.ask("initialize", asked)
            must_fail(answer, f"initialize with protocolVersion {version!r}", [INVALID_PARAMS])


@must(
    "initialize.malformed-capabilities", greeted, source="protocol schema: x-deserialize-default-on-error", cases=(17,)
)
async def malformed_capabilities(attempt: CheckRun) -> None:
    """A malformed optional capability counts as absent; initialize still succeeds."""
    async with attempt.bare() as agent:
        must_succeed(
            await _hello(agent, attempt, clientCapabilities=MALFORMED, capabilities=MALFORMED),
            "initialize with broken capabilities",
        )


@must("initialize.unknown-fields", greeted, source="extensibility", cases=(18, 43))
async def foreign_fields(attempt: CheckRun) -> None:
    """Unknown fields and capabilities are ignored, and _meta may be null."""
    async with attempt.bare() as agent:
        answer = await _hello(agent, attempt, clientCapabilities=FOREIGN, capabilities=FOREIGN, mood="fine", _meta=None)
        must_succeed(answer, "initialize with fields from the future")


@should("initialize.agent-info", greeted, source=f"{_PAGE}; TCK ACP-INIT-004, 203")
async def info(attempt: CheckRun) -> None:
    """The agent gives its name and version in agentInfo."""
    async with attempt.bare() as agent:
        answer = await _hello(agent, attempt)
        info = as_object(answer.result.get("info") or answer.result.get("agentInfo"))
        if not text_of(info, "name") or not text_of(info, "version"):
            raise Failed("agentInfo with name and version is missing", exchange(answer))


@should("initialize.twice", greeted, source="errors", cases=(19,), versions=ONLY_1)
async def twice(attempt: CheckRun) -> None:
    """A second initialize is answered with a result or with error -32600, and the connection goes on."""
    async with attempt.fresh() as agent:
        answer = await _hello(agent, attempt)
        if answer.error is not None and answer.code != INVALID_REQUEST:
            raise Failed(f"the second initialize was refused with {answer.code}", exchange(answer))
        await attempt.alive(agent, shown=exchange(answer))


@should("initialize.comes-first", greeted, source=f"{_PAGE}; errors", cases=(19,))
async def comes_first(attempt: CheckRun) -> None:
    """A request before initialize is answered with error -32600, and initialize still works."""
    async with attempt.bare() as agent:
        must_fail(await agent.ask("session/new", attempt.opening()), "a request before initialize", [INVALID_REQUEST])
        must_succeed(await _hello(agent, attempt), "initialize after a request that came too early")


@should("initialize.pipelined", greeted, source=_PAGE, cases=(19,))
async def pipelined(attempt: CheckRun) -> None:
    """A request that does not wait for the answer to initialize is answered all the same."""
    async with attempt.bare() as agent:
        hello = agent.call("initialize", attempt.hello(capabilities={}))
        opening = agent.call("session/new", attempt.opening())
        must_succeed(await agent.answered(hello), "initialize")
        await agent.answered(opening)


# ------------------------------------------------------------------ logging in


def _id(method: JsonObject) -> str:
    """The id of a login method, which protocol 2 calls `methodId`."""
    return text_of(method, "id") or text_of(method, "methodId")


def _has_methods(pool: AgentPool) -> NotJudged | None:
    return greeted(pool) or (None if pool.facts.auth_methods else Skipped("no authMethods are offered"))


def _has_method(pool: AgentPool) -> NotJudged | None:
    if pool.options.auth_method is None:
        return Skipped("give --auth-method ID, one of the agent's authMethods")
    return greeted(pool)


def _may_log_out(pool: AgentPool) -> NotJudged | None:
    if not pool.options.allow_logout:
        return Skipped("give --allow-logout; it forgets the agent's credentials")
    return None


@should("auth.method-ids-unique", _has_methods, source="authentication; TCK ACP-AUTH-001, 201")
async def unique_methods(attempt: CheckRun) -> None:
    """Each way to log in has an id of its own."""
    ids = [_id(method) for method in attempt.facts.auth_methods]
    if len(set(ids)) < len(ids) or "" in ids:
        raise Failed(f"the ids of authMethods are not unique: {ids}")


@advice("auth.method-for-the-registry", greeted, source="ACP Registry: authentication")
async def registry(attempt: CheckRun) -> None:
    """An agent that wants to be listed in the ACP Registry offers a way to log in."""
    if not attempt.facts.auth_methods:
        raise Failed("authMethods is empty")


@should("auth.unknown-method", _has_methods, source="authentication", cases=(42,))
async def unknown_method(attempt: CheckRun) -> None:
    """Authenticate with an id that was not offered is answered with error -32602."""
    async with attempt.fresh() as agent:
        answer = await agent.ask(attempt.dialect.login, {"methodId": "verify-no-such-method"})
        must_fail(answer, "authenticate with an unknown method", [INVALID_PARAMS])


@should("auth.terminal-method-not-callable", greeted, source="authentication", cases=(42,))
async def terminal_method(attempt: CheckRun) -> None:
    """Authenticate with a method of type terminal is answered with error -32602."""
    async with attempt.bare() as agent:
        answer = await agent.ask("initialize", attempt.hello(capabilities={"auth": {"terminal": attempt.dialect.yes}}))
        methods = [as_object(method) for method in _methods(answer)]
        terminal = next((method for method in methods if method.get("type") == "terminal"), None)
        if terminal is None:
            raise Skipped("no method of type terminal is offered")
        answer = await agent.ask(attempt.dialect.login, {"methodId": _id(terminal)})
        must_fail(answer, "authenticate with a terminal method", [INVALID_PARAMS])


def _methods(answer: Frame) -> Sequence[JsonValue]:
    methods = answer.result.get("authMethods")
    return methods if isinstance(methods, list) else []


@must("auth.authenticates", _has_method, source="authentication; TCK ACP-AUTH-003, 204")
async def authenticates(attempt: CheckRun) -> None:
    """After authenticate with an offered method, sessions can be opened."""
    async with attempt.bare() as agent:
        must_succeed(await _hello(agent, attempt), "initialize")
        answer = await agent.ask(attempt.dialect.login, {"methodId": attempt.options.auth_method})
        if answer.error is not None:
            raise NotTried(f"{attempt.options.auth_method} was refused: {answer.error.get('message')}")
        must_succeed(await agent.ask("session/new", attempt.opening()), "session/new after authenticate")


@must("auth.logs-out", offers("auth.logout"), _may_log_out, source="authentication; TCK ACP-AUTH-004, 203", alone=True)
async def logs_out(attempt: CheckRun) -> None:
    """Logout is answered with a result, and the connection goes on."""
    async with attempt.fresh() as agent:
        answer = await agent.ask(attempt.dialect.logout, {})
        must_succeed(answer, "logout")
        await attempt.alive(agent, shown=exchange(answer))


@should("auth.logout-unoffered", session, offers_not("auth.logout"), source="authentication; errors")
async def logout_unoffered(attempt: CheckRun) -> None:
    """Logout that is not offered is answered with error -32601."""
    async with attempt.agent() as agent:
        must_fail(await agent.ask(attempt.dialect.logout, {}), "logout, which is not offered", [METHOD_NOT_FOUND])


CHECKS = checks_in(globals())
