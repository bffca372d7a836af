"""Turns: their end, their updates, and the content of prompts."""

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.message import INVALID_PARAMS
from claw_acp.schema.errors import AUTHENTICATION_REQUIRED
from claw_acp.verify.agent_connection import AgentConnection
from claw_acp.verify.answers import exchange, must_fail, must_succeed
from claw_acp.verify.check import ONLY_1, Check, advice, checks_in, must, should
from claw_acp.verify.check_run import CheckRun, updates
from claw_acp.verify.needs import offers, turn
from claw_acp.verify.needs import session as opened
from claw_acp.verify.rule import Failed, NotTried

_PAGE = "prompt-turn"
STOP_REASONS = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled")
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
SILENT_WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
BLOCKS: dict[str, JsonObject] = {
    "image": {"type": "image", "data": PIXEL, "mimeType": "image/png"},
    "audio": {"type": "audio", "data": SILENT_WAV, "mimeType": "audio/wav"},
    "embeddedContext": {
        "type": "resource",
        "resource": {"uri": "file:///verify/note.txt", "text": "a note", "mimeType": "text/plain"},
    },
}
UPDATES = frozenset(
    {"agent_message_chunk", "agent_message", "agent_thought_chunk", "agent_thought", "tool_call", "tool_call_update",
     "plan", "plan_update"}
)  # fmt: skip


@must("prompt.answers", opened, source=f"{_PAGE}; TCK ACP-PROMPT-001", versions=ONLY_1)
async def answers(attempt: CheckRun) -> None:
    """session/prompt is answered with a stop reason: end_turn, max_tokens, max_turn_requests, refusal or cancelled."""
    async with attempt.in_session() as (agent, session):
        answer = await agent.answered(attempt.prompt(agent, session))
        if answer.code == AUTHENTICATION_REQUIRED:
            raise NotTried("session/prompt was answered with error -32000: authentication required")
        must_succeed(answer, "session/prompt")
        if answer.result.get("stopReason") not in STOP_REASONS:
            raise Failed(f"the stop reason is {answer.result.get('stopReason')!r}", exchange(answer))


@should("prompt.takes-links", turn, source="initialization; content; TCK ACP-PROMPT-003", cases=(41,))
async def link(attempt: CheckRun) -> None:
    """A prompt may hold resource_link blocks."""
    async with attempt.agent() as agent:
        link: JsonObject = {"type": "resource_link", "uri": (attempt.options.cwd / "a.txt").as_uri(), "name": "a.txt"}
        await _takes(attempt, agent, link, what="a prompt with a resource_link")


async def _takes(attempt: CheckRun, agent: AgentConnection, block: JsonObject, *, what: str) -> None:
    prompt: list[JsonValue] = [{"type": "text", "text": attempt.options.prompt}, block]
    params: JsonObject = {"sessionId": await attempt.session(agent), "prompt": prompt}
    must_succeed(await attempt.ended(agent, agent.call("session/prompt", params)), what)


@advice("prompt.shows-something", turn, source=_PAGE, cases=(48,))
async def shows_something(attempt: CheckRun) -> None:
    """A turn shows the user something, in words, thoughts, a plan or a tool call."""
    async with attempt.in_session() as (agent, session):
        begin = len(agent.frames)
        answer = await attempt.turn(agent, session)
        seen = [frame for frame in updates(agent, session, since=begin) if frame.kind in UPDATES]
        if not seen:
            reason = attempt.dialect.reason(answer)
            raise Failed(f"the turn ended with {reason} and nothing was shown to the user", exchange(answer))


@should("prompt.takes-meta", turn, source="extensibility; TCK ACP-META-001", cases=(43,))
async def takes_meta(attempt: CheckRun) -> None:
    """A prompt may carry _meta, such as a trace of W3C."""
    async with attempt.in_session() as (agent, session):
        meta: JsonObject = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
        call = agent.call("session/prompt", {**attempt.prompt_params(session), "_meta": meta})
        must_succeed(await attempt.ended(agent, call), "a prompt with _meta")


@must("prompt.second-turn", turn, source=_PAGE)
async def again(attempt: CheckRun) -> None:
    """A session takes one prompt after another."""
    async with attempt.in_session() as (agent, session):
        await attempt.turn(agent, session)
        must_succeed(await attempt.ended(agent, attempt.prompt(agent, session)), "a second prompt in the same session")


@should("prompt.two-at-once", turn, source=_PAGE, cases=(32,))
async def two_at_once(attempt: CheckRun) -> None:
    """Of two prompts sent at once in a session both are answered, the first with a result."""
    async with attempt.in_session() as (agent, session):
        calls = [attempt.prompt(agent, session), attempt.prompt(agent, session)]
        for call in calls:
            await agent.answered(call)
        must_succeed(calls[0].answers[0], "the first of two prompts at once")


def _content(kind: str) -> Check:
    capability = f"promptCapabilities.{kind}"

    async def takes(attempt: CheckRun) -> None:
        async with attempt.agent() as agent:
            await _takes(attempt, agent, BLOCKS[kind], what=f"a prompt with {kind}, which is offered,")

    takes.__doc__ = f"A prompt may hold what {capability} offers."
    source = "prompt-turn; TCK ACP-PROMPTCAP-001 to 003"
    return must(f"prompt.takes-{kind.lower()}", turn, offers(capability), source=source)(takes)


def _unoffered(attempt: CheckRun) -> list[str]:
    return [kind for kind in BLOCKS if not attempt.facts.offers(f"promptCapabilities.{kind}")]


@should("prompt.unoffered-content", opened, source="prompt-turn; errors", cases=(41,))
async def refuses_unoffered(attempt: CheckRun) -> None:
    """Content that promptCapabilities does not offer is refused with error -32602."""
    async with attempt.in_session() as (agent, session):
        for kind in _unoffered(attempt):
            answer = await agent.ask("session/prompt", {"sessionId": session, "prompt": [BLOCKS[kind]]})
            must_fail(answer, f"a prompt with {kind}, which is not offered,", [INVALID_PARAMS])


@should("prompt.unknown-block", opened, source="content; errors", cases=(41,))
async def unknown_block(attempt: CheckRun) -> None:
    """A content block of unknown type is refused with error -32602."""
    async with attempt.in_session() as (agent, session):
        answer = await agent.ask(
            "session/prompt", {"sessionId": session, "prompt": [{"type": "hologram", "data": "?"}]}
        )
        must_fail(answer, "a prompt with a block of unknown type", [INVALID_PARAMS])


@should("prompt.empty", opened, source=_PAGE, cases=(41,))
async def empty(attempt: CheckRun) -> None:
    """An empty prompt is answered, or refused with error -32602."""
    async with attempt.in_session() as (agent, session):
        answer = await agent.ask("session/prompt", {"sessionId": session, "prompt": []})
        if answer.error is not None and answer.code != INVALID_PARAMS:
            raise Failed(
                f"an empty prompt was refused with error {answer.code}, not {INVALID_PARAMS}", exchange(answer)
            )


CHECKS = (*checks_in(globals()), *map(_content, BLOCKS))
