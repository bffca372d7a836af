"""JSON-RPC 2.0: ids, errors, invalid messages."""

from collections.abc import Sequence

import anyio

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.message import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR
from claw_acp.verify.agent_connection import AgentConnection
from claw_acp.verify.answers import exchange, must_fail, must_succeed
from claw_acp.verify.check import advice, checks_in, must, should
from claw_acp.verify.check_run import QUIET, CheckRun
from claw_acp.verify.frames import Frame
from claw_acp.verify.needs import greeted, session, tool
from claw_acp.verify.rule import Dead, Failed, NotTried

IDS: Sequence[JsonValue] = (0, -1, 2_147_483_648, "", "0", "verify-id", "ä\u2028😀")
LARGE = 2**53 + 1  # the first integer that a double cannot hold
AT_ONCE = 20  # requests in flight
BATCH = b'[{"jsonrpc":"2.0","id":710001,"method":"_claw-acp/verify"},{"jsonrpc":"2.0","id":710002,"method":"_claw/x"}]'
MISSHAPEN: Sequence[tuple[str, JsonObject]] = (
    ("session/new", {}),
    ("session/new", {"cwd": 7, "mcpServers": []}),
    ("session/prompt", {"prompt": []}),
    ("session/prompt", {"sessionId": ["x"], "prompt": "text"}),
)
NO_MESSAGES = (b"42", b'"text"', b"null", b"true", b"{}", b"[]", BATCH)
"""JSON that is no JSON-RPC request. Batches belong here: ACP has none."""


@must("jsonrpc.ids-echoed", greeted, source="JSON-RPC 2.0 §5; TCK ACP-JSONRPC-001", cases=(20,))
async def ids(attempt: CheckRun) -> None:
    """An answer carries the id of its request, as the same JSON value: 1 is not "1"."""
    async with attempt.agent() as agent:
        for request_id in IDS:
            _same_id(await agent.ask("_claw-acp/verify", {}, id=request_id), request_id)


@advice("jsonrpc.large-ids", greeted, source="JSON-RPC 2.0 §5", cases=(20,))
async def large_ids(attempt: CheckRun) -> None:
    """Ids beyond 2^53 come back unharmed."""
    async with attempt.agent() as agent:
        answer = await agent.ask("_claw-acp/verify", {}, id=LARGE)
        if str(answer.object.get("id")) != str(LARGE):
            raise Failed(f"the id {LARGE} came back as {answer.object.get('id')}", exchange(answer))


def _same_id(answer: Frame, request_id: JsonValue) -> None:
    if answer.inexact:
        shown = [answer.call.frame, answer] if answer.call else [answer]
        raise Failed(f"the id {request_id!r} came back as {answer.object.get('id')!r}", shown)


@must("jsonrpc.requests-at-once", greeted, source="JSON-RPC 2.0 §4")
async def at_once(attempt: CheckRun) -> None:
    """Requests that are sent without waiting are all answered."""
    async with attempt.agent() as agent:
        for call in [agent.call("_claw-acp/verify", {"number": number}) for number in range(AT_ONCE)]:
            await agent.answered(call)


@should("jsonrpc.unknown-method", greeted, source="extensibility; JSON-RPC 2.0 §5.1; TCK ACP-JSONRPC-004")
async def unknown_method(attempt: CheckRun) -> None:
    """A request for a method that does not exist is answered with error -32601."""
    async with attempt.agent() as agent:
        must_fail(await agent.ask("verify/no_such_method", {}), "an unknown method", [METHOD_NOT_FOUND])


@must("jsonrpc.extensions-answered", greeted, source="extensibility; TCK ACP-EXT-001", cases=(44,))
async def extensions_answered(attempt: CheckRun) -> None:
    """A request for an unknown method that begins with an underscore is answered in some way."""
    async with attempt.agent() as agent:
        await agent.ask("_claw-acp/no_such_method", {})


@should("jsonrpc.usable-after-errors", session, source="TCK ACP-JSONRPC-005")
async def usable_after_errors(attempt: CheckRun) -> None:
    """After requests that were answered with errors the next ones are served."""
    async with attempt.agent() as agent:
        for method in ("verify/no_such_method", "session/new", "session/prompt"):
            must_fail(await agent.ask(method, {"nonsense": True}), method)
        must_succeed(await agent.ask("session/new", attempt.opening()), "session/new after errors")


@should("jsonrpc.unknown-extension", greeted, source="extensibility; TCK ACP-JSONRPC-004", cases=(44,))
async def unknown_extension(attempt: CheckRun) -> None:
    """A request for an unknown method that begins with an underscore is answered with error -32601."""
    async with attempt.agent() as agent:
        must_fail(await agent.ask("_claw-acp/no_such_method", {}), "an unknown extension", [METHOD_NOT_FOUND])


@advice("jsonrpc.notification-as-request", session, source="JSON-RPC 2.0 §4")
async def notification_as_request(attempt: CheckRun) -> None:
    """A notification that is sent with an id is answered in some way, so that the client does not wait."""
    async with attempt.in_session() as (agent, opened):
        await agent.ask("session/cancel", {"sessionId": opened})


@must(
    "jsonrpc.notifications-unanswered",
    greeted,
    source="JSON-RPC 2.0 §4.1; extensibility; TCK ACP-JSONRPC-003",
    cases=(44,),
)
async def unknown_notifications(attempt: CheckRun) -> None:
    """A notification is never answered, be it unknown or wrong, and does no harm."""
    await _silence(
        attempt,
        [
            ("verify/no_such_notification", {}),
            ("_claw-acp/no_such_notification", {"a": 1}),
            ("$/no_such_notification", {}),
            ("session/cancel", {}),
            ("session/cancel", [1, 2]),
        ],
    )


async def _silence(attempt: CheckRun, notifications: Sequence[tuple[str, JsonValue]]) -> None:
    """Check that none of these is answered."""
    async with attempt.agent() as agent:
        begin = len(agent.frames)
        sent = [agent.notify(method, params) for method, params in notifications]
        for frame in await attempt.heard(agent, begin=begin, shown=sent):
            if frame.is_answer:
                raise Failed("a notification was answered", [*sent, frame])


@should("jsonrpc.invalid-params", greeted, source="JSON-RPC 2.0 §5.1; errors", cases=(41,))
async def invalid_params(attempt: CheckRun) -> None:
    """A request without a required parameter, or with one of a wrong type, is answered with error -32602."""
    async with attempt.agent() as agent:
        for method, params in MISSHAPEN:
            must_fail(await agent.ask(method, params), f"{method} with wrong parameters", [INVALID_PARAMS])


@must("jsonrpc.answers-to-nothing-ignored", greeted, source="JSON-RPC 2.0 §5", cases=(21,))
async def unasked_answers(attempt: CheckRun) -> None:
    """An answer to a request that was never sent is ignored."""
    async with attempt.agent() as agent:
        begin = len(agent.frames)
        sent = [
            agent.say({"jsonrpc": "2.0", "id": 719_999, "result": {}}),
            agent.say({"jsonrpc": "2.0", "id": "nobody asked", "error": {"code": -32603, "message": "no"}}),
            agent.say({"jsonrpc": "2.0", "id": None, "result": None}),
        ]
        for frame in await attempt.heard(agent, begin=begin, shown=sent):
            if frame.is_answer:
                raise Failed("an answer was answered", [*sent, frame])


# ------------------------------------------------------------------ what is no request


@must("jsonrpc.survives-what-is-no-request", greeted, source="JSON-RPC 2.0 §5.1", cases=(22,))
async def survives(attempt: CheckRun) -> None:
    """Numbers, strings, null, empty objects and arrays do not end the connection."""
    async with attempt.agent() as agent:
        for data in NO_MESSAGES:
            sent = agent.send_raw(data + b"\n", unreadable=2)
            await attempt.alive(agent, shown=[sent])


@must("jsonrpc.batch-not-executed", greeted, source="protocol schema; official SDKs", cases=(22,))
async def batch_not_executed(attempt: CheckRun) -> None:
    """The requests inside a batch are not executed: ACP has no batches."""
    async with attempt.agent() as agent:
        begin = len(agent.frames)
        sent = agent.send_raw(BATCH + b"\n", unreadable=1)
        for frame in await _heard(attempt, agent, sent, begin=begin):
            if isinstance(frame.message, list) or frame.object.get("id") in {710_001, 710_002}:
                raise Failed("the requests inside a batch were answered", [sent, frame])


@should("jsonrpc.batch-refused", greeted, source="JSON-RPC 2.0 §5.1; errors", cases=(22,))
async def batch_refused(attempt: CheckRun) -> None:
    """A batch is answered with one error -32600 and a null id."""
    async with attempt.agent() as agent:
        await _refused(attempt, agent, BATCH, INVALID_REQUEST)


@should(
    "jsonrpc.invalid-request-refused", greeted, source="JSON-RPC 2.0 §5.1; TCK ACP-INFO-INVALIDREQ-001", cases=(22,)
)
async def invalid_requests_refused(attempt: CheckRun) -> None:
    """JSON that is no request is answered with error -32600 and a null id."""
    async with attempt.agent() as agent:
        for data in (b"42", b'"text"', b"{}"):
            await _refused(attempt, agent, data, INVALID_REQUEST)


@should("jsonrpc.parse-error-answered", greeted, source="JSON-RPC 2.0 §5.1; TCK ACP-INFO-PARSE-001", cases=(23,))
async def parse_error(attempt: CheckRun) -> None:
    """A line that is no JSON is answered with error -32700 and a null id."""
    async with attempt.agent() as agent:
        await _refused(attempt, agent, b'{"jsonrpc":"2.0","id":710003,"method":', PARSE_ERROR)


async def _heard(attempt: CheckRun, agent: AgentConnection, sent: Frame, *, begin: int) -> list[Frame]:
    """The frames that came; whether the agent survives is another check."""
    try:
        return await attempt.heard(agent, begin=begin, shown=[sent])
    except Dead as dead:
        raise NotTried(dead.reason) from dead


async def _refused(attempt: CheckRun, agent: AgentConnection, data: bytes, code: int) -> None:
    """Check that a line is answered once, with this code and a null id."""
    begin = len(agent.frames)
    sent = agent.send_raw(data + b"\n", unreadable=1)
    came = await _heard(attempt, agent, sent, begin=begin)
    answers = [frame for frame in came if frame.is_answer and frame.object.get("id") is None]
    if not answers:
        raise Failed(f"it was not answered; a client waits for ever for error {code}", [sent])
    if answers[0].code != code:
        raise Failed(f"it was answered with {answers[0].code}, not {code}", [sent, *answers])
    if len(answers) > 1:
        raise Failed(f"it was answered {len(answers)} times", [sent, *answers])


@advice("jsonrpc.version-checked", greeted, source="JSON-RPC 2.0 §4")
async def missing_version(attempt: CheckRun) -> None:
    """A request that is not of JSON-RPC 2.0 is answered with error -32600."""
    async with attempt.agent() as agent:
        begin = len(agent.frames)
        agent.unreadable += 1  # the answer may have a null id: it is no request
        call = agent.call("_claw-acp/verify", {}, jsonrpc="1.0")
        came = await _heard(attempt, agent, call.frame, begin=begin)
        if not any(frame.code == INVALID_REQUEST for frame in came):
            raise Failed("it was not refused", [call.frame, *came])


@must("jsonrpc.own-id-space", tool, source="JSON-RPC 2.0 §4", cases=(20,))
async def own_id_space(attempt: CheckRun) -> None:
    """The ids of both directions are apart: a request of the client may carry an id that the agent uses too."""
    async with attempt.in_session() as (agent, opened):
        call, question = await attempt.question(agent, opened)
        twin = agent.call("_claw-acp/verify", {}, id=question.object.get("id"))
        await agent.answered(twin)
        await anyio.sleep(QUIET)
        if end := attempt.dialect.end(agent, call):
            raise Failed("the turn ended although the question was not answered", [question, twin.frame, end])
        agent.answer(question, "allow")
        await attempt.ended(agent, call)


CHECKS = checks_in(globals())
