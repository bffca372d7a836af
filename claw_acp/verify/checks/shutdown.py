"""Shutdown: at the end of the input or output, by a signal; and that no process remains."""

import signal

from claw_acp.verify.agent_connection import EXIT_TIMEOUT, AgentConnection
from claw_acp.verify.check import advice, checks_in, greeted, should, slow, turn
from claw_acp.verify.check_run import CheckRun
from claw_acp.verify.process import Ending
from claw_acp.verify.rule import Failed

_PAGE = "transports: stdio; TCK ACP-SHUTDOWN-001"
BROKEN_PIPE = "its output is not read, and its input was closed"


async def _must_end(
    line: AgentConnection, *, how: str = "its input was closed", within: float = EXIT_TIMEOUT
) -> Ending:
    ending = await line.end(how=how, within=within)
    if ending.seconds is None:
        limit = min(line.timeout, within)
        raise Failed(f"it still runs {limit:g} s after {how}", line.frames[-2:])
    return ending


@should("shutdown.at-the-end-of-input", turn, source=_PAGE, cases=(47,))
async def idle(attempt: CheckRun) -> None:
    """The agent exits when its input ends."""
    async with attempt.fresh() as line:
        await attempt.turn(line, await attempt.session(line))
        await _must_end(line)


@should("shutdown.before-initialize", source=_PAGE, cases=(47,))
async def silent(attempt: CheckRun) -> None:
    """The agent exits when its input ends before any message."""
    async with attempt.bare() as line:
        await _must_end(line, within=line.timeout)  # its start is part of it


@should("shutdown.mid-turn", slow, source=_PAGE, cases=(47,))
async def mid_turn(attempt: CheckRun) -> None:
    """The agent exits when its input ends in the middle of a turn."""
    async with attempt.fresh() as line:
        await attempt.slow_turn(line, await attempt.session(line))
        await _must_end(line)


@should("shutdown.mid-line", greeted, source=_PAGE, cases=(23, 47))
async def mid_line(attempt: CheckRun) -> None:
    """The agent exits when its input ends in the middle of a line."""
    async with attempt.fresh() as line:
        line.send_raw(b'{"jsonrpc":"2.0","id":730001,"method":"session/li', unreadable=1)
        await _must_end(line)


@should("shutdown.by-signal", greeted, source=_PAGE, cases=(47,))
async def by_signal(attempt: CheckRun) -> None:
    """The agent exits on SIGTERM."""
    async with attempt.fresh() as line:
        line.process.signal(signal.SIGTERM)
        how = "SIGTERM"
        seconds = await line.process.wait(within=min(line.timeout, EXIT_TIMEOUT))
        if seconds is None:
            raise Failed(f"it still runs {min(line.timeout, EXIT_TIMEOUT):g} s after SIGTERM")
        await line.end(how=how)


@should("shutdown.nobody-reads", turn, source=_PAGE, cases=(47,))
async def nobody_reads(attempt: CheckRun) -> None:
    """The agent exits, at the latest at the end of its input, when its output is not read any more."""
    async with attempt.fresh() as line:
        session = await attempt.session(line)
        line.process.close_output()
        attempt.prompt(line, session)
        await line.flushed()
        await _must_end(line, how=BROKEN_PIPE)


@advice("shutdown.exit-code", greeted, source="transports: stdio", cases=(47,))
async def exit_code(attempt: CheckRun) -> None:
    """The end of the input is no failure: the exit code is 0."""
    async with attempt.fresh() as line:
        ending = await _must_end(line)
        if ending.code != 0:
            raise Failed(f"the exit code is {ending.code}; it wrote last: {line.process.last_words or 'nothing'}")


CHECKS = checks_in(globals())
