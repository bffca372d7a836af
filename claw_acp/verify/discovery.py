"""The first conversation with an agent, which collects facts and judges nothing."""

import anyio

from claw_acp.core.json_value import JsonObject
from claw_acp.verify.agent_connection import AgentConnection
from claw_acp.verify.agent_pool import AgentPool
from claw_acp.verify.check_run import CheckRun
from claw_acp.verify.facts import LIFESIGN
from claw_acp.verify.frames import Frame
from claw_acp.verify.rule import CannotStart, Failed, NotTried

FIRST_ANSWER_TIMEOUT = 3.0  # seconds for an answer that needs no thought
SETTLED = 0.3  # seconds after the first turn, for what comes late to be seen by those who watch for it
AUTH_REQUIRED = -32000
UNKNOWN_SESSION = "verify-no-such-session"


async def meet(bench: AgentPool) -> None:
    """Initialize, open a session, run a turn; fill in `bench.facts`.

    Raises:
        CannotStart: The agent cannot be started, or ended without output.
    """
    attempt = CheckRun(bench, reuse=False)
    async with attempt.bare() as line:
        try:
            hello = await attempt.initialize(line, capabilities={})
        except NotTried as trouble:
            if line.output_over and not any(frame.way == "<-" for frame in line.frames):
                await line.process.fall_silent()
                raise CannotStart(
                    f"the agent ended at once: {line.process.last_words or 'without a word'}"
                ) from trouble
            return
        bench.facts.hello = line.hello.result if line.hello is not None else hello.result
        bench.facts.lifesign = await _lifesign(attempt, line)
        await _first_turn(attempt, line)


async def _first_turn(attempt: CheckRun, line: AgentConnection) -> None:
    facts = attempt.facts
    try:
        opened = await _first_session(attempt, line)
    except NotTried as trouble:
        facts.no_session = trouble.reason
        return
    facts.opened = opened.result
    session = opened.result.get("sessionId")
    try:
        await attempt.turn(line, session if isinstance(session, str) else "")
    except NotTried as trouble:
        facts.no_turn = trouble.reason
    await anyio.sleep(SETTLED)


async def _first_session(attempt: CheckRun, line: AgentConnection) -> Frame:
    """The answer to session/new, after logging in if that is needed and possible."""
    answer = await attempt.tried(line, "session/new", attempt.opening())
    if answer.code == AUTH_REQUIRED and attempt.options.auth_method is not None:
        await attempt.authenticate(line)
        attempt.facts.must_authenticate = True
        answer = await attempt.tried(line, "session/new", attempt.opening())
    return attempt.succeeded(answer, "session/new")


async def _lifesign(attempt: CheckRun, line: AgentConnection) -> tuple[str, JsonObject]:
    """A request that is answered at once, even with an error."""
    nothing: JsonObject = {}
    unknown = attempt.prompt_params(UNKNOWN_SESSION)
    for method, params in ((LIFESIGN, nothing), ("session/prompt", unknown), ("session/list", nothing)):
        call = line.call(method, params)
        try:
            await line.answered(call, within=min(FIRST_ANSWER_TIMEOUT, line.timeout))
        except Failed:
            continue
        return method, params
    return "session/new", attempt.opening()
