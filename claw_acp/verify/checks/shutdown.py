"""Shutdown: at the end of the input or output, by a signal; and that no process remains."""

import signal

from claw_acp.verify.agent_connection import EXIT_TIMEOUT, AgentConnection
from claw_acp.verify.check import advice, checks_in, should
from claw_acp.verify.check_run import CheckRun
from claw_acp.verify.needs import greeted, slow, turn
from claw_acp.verify.process import Ending
from claw_acp.verify.rule import Failed

_PAGE = "transports: stdio; TCK ACP-SHUTDOWN-001"
BROKEN_PIPE = "its output is not read, and its input was closed"


async def _must_end(
    agent: AgentConnection, *, how: str = "its input was closed", within: float = EXIT_TIMEOUT
) -> Ending:
    ending = await agent.end(how=how, within=within)
    if ending.seconds is None:
        limit = min(agent.timeout, within)
        raise Failed(f"it still runs {limit:g} s after {how}", agent.frames[-2:])
    return ending


@should("shutdown.at-the-end-of-input", turn, source=_PAGE, cases=(47,))
async def idle(attempt: CheckRun) -> None:
    """The agent exits when its input ends."""
    async with attempt.fresh() as agent:
        await attempt.turn(agent, await attempt.session(agent))
        await _must_end(agent)


@should("shutdown.before-initialize", source=_PAGE, cases=(47,))
async def silent(attempt: CheckRun) -> None:
    """The agent exits when its input ends before any message."""
    async with attempt.bare() as agent:
        await _must_end(agent, within=agent.timeout)  # its start is part of it


@should("shutdown.mid-turn", slow, source=_PAGE, cases=(47,))
async def mid_turn(attempt: CheckRun) -> None:
    """The agent exits when its input ends in the middle of a turn."""
    async with attempt.fresh() as agent:
        await attempt.slow_turn(agent, await attempt.session(agent))
        await _must_end(agent)


@should("shutdown.mid-line", greeted, source=_PAGE, cases=(23, 47))
async def mid_line(attempt: CheckRun) -> None:
    """The agent exits when its input ends in the middle of a line."""
    async with attempt.fresh() as agent:
        agent.send_raw(b'{"jsonrpc":"2.0","id":730001,"method":"session/li', unreadable=1)
        await _must_end(agent)


@should("shutdown.by-signal", greeted, source=_PAGE, cases=(47,))
async def by_signal(attempt: CheckRun) -> None:
    """The agent exits on SIGTERM."""
    async with attempt.fresh() as agent:
        agent.process.signal(signal.SIGTERM)
        how = "SIGTERM"
        seconds = await agent.process.wait(within=min(agent.timeout, EXIT_TIMEOUT))
        if seconds is None:
            raise Failed(f"it still runs {min(agent.timeout, EXIT_TIMEOUT):g} s after SIGTERM")
        await agent.end(how=how)


@should("shutdown.nobody-reads", turn, source=_PAGE, cases=(47,))
async def nobody_reads(attempt: CheckRun) -> None:
    """The agent exits, at the latest at the end of its input, when its output is not read any more."""
    async with attempt.fresh() as agent:
        session = await attempt.session(agent)
        agent.process.close_output()
        attempt.prompt(agent, session)
        await agent.flushed()
        await _must_end(agent, how=BROKEN_PIPE)


@advice("shutdown.exit-code", greeted, source="transports: stdio", cases=(47,))
async def exit_code(attempt: CheckRun) -> None:
    """The end of the input is no failure: the exit code is 0."""
    async with attempt.fresh() as agent:
        ending = await _must_end(agent)
        if ending.code != 0:
            raise Failed(f"the exit code is {ending.code}; it wrote last: {agent.process.last_words or 'nothing'}")


CHECKS = checks_in(globals())
