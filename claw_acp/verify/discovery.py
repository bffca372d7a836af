"""The first conversation with an agent, which collects facts and judges nothing."""

import anyio

from claw_acp.core.json_value import JsonObject
from claw_acp.schema.errors import AUTHENTICATION_REQUIRED
from claw_acp.verify.agent_connection import AgentConnection
from claw_acp.verify.agent_pool import AgentPool
from claw_acp.verify.check_run import SETTLED, CheckRun
from claw_acp.verify.facts import LIFESIGN
from claw_acp.verify.frames import Frame
from claw_acp.verify.rule import CannotStart, Failed, NotTried

FIRST_ANSWER_TIMEOUT = 3.0  # seconds for an answer that needs no thought
UNKNOWN_SESSION = "verify-no-such-session"


async def meet(pool: AgentPool) -> None:
    """Initialize, open a session, run a turn; fill in `pool.facts`.

    Raises:
        CannotStart: The agent cannot be started, or ended without output.
    """
    attempt = CheckRun(pool, reuse=False)
    async with attempt.bare() as agent:
        try:
            hello = await attempt.initialize(agent, capabilities={})
        except NotTried as trouble:
            if agent.output_over and not any(frame.way == "<-" for frame in agent.frames):
                await agent.process.fall_silent()
                raise CannotStart(
                    f"the agent ended at once: {agent.process.last_words or 'without a word'}"
                ) from trouble
            return
        pool.facts.hello = agent.hello.result if agent.hello is not None else hello.result
        pool.facts.lifesign = await _lifesign(attempt, agent)
        await _first_turn(attempt, agent)


async def _first_turn(attempt: CheckRun, agent: AgentConnection) -> None:
    facts = attempt.facts
    try:
        opened = await _first_session(attempt, agent)
    except NotTried as trouble:
        facts.no_session = trouble.reason
        return
    facts.opened = opened.result
    session = opened.result.get("sessionId")
    try:
        await attempt.turn(agent, session if isinstance(session, str) else "")
    except NotTried as trouble:
        facts.no_turn = trouble.reason
    await anyio.sleep(SETTLED)  # monitors see what comes late


async def _first_session(attempt: CheckRun, agent: AgentConnection) -> Frame:
    """The answer to session/new, after logging in if that is needed and possible."""
    answer = await attempt.tried(agent, "session/new", attempt.opening())
    if answer.code == AUTHENTICATION_REQUIRED and attempt.options.auth_method is not None:
        await attempt.authenticate(agent)
        attempt.facts.must_authenticate = True
        answer = await attempt.tried(agent, "session/new", attempt.opening())
    return attempt.succeeded(answer, "session/new")


async def _lifesign(attempt: CheckRun, agent: AgentConnection) -> tuple[str, JsonObject]:
    """A request that is answered at once, even with an error."""
    nothing: JsonObject = {}
    unknown = attempt.prompt_params(UNKNOWN_SESSION)
    for method, params in ((LIFESIGN, nothing), ("session/prompt", unknown), ("session/list", nothing)):
        call = agent.call(method, params)
        try:
            await agent.answered(call, within=min(FIRST_ANSWER_TIMEOUT, agent.timeout))
        except Failed:
            continue
        return method, params
    return "session/new", attempt.opening()
