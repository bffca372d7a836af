"""Watches an agent that is another program: one that says nothing for too long, or too much, is ended."""

import math
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import anyio

from claw_acp.client.agent import Agent
from claw_acp.contracts.agent_program import AgentProgram
from claw_acp.contracts.launch import TimeLimit
from claw_acp.subagents.foreign.failures import AgentProgramFailed, flooding, silent

MOST_UNHEARD: Final = 10_000  # updates that arrived and could not be handled yet
MOST_BYTES: Final = 256 * 1024 * 1024  # of all its messages for one task


class ActivityWatch:
    """The time that passes without a word, and the amount of words.

    Args:
        program: The program.
    """

    def __init__(self, program: AgentProgram) -> None:
        self._program = program
        self._scope = anyio.CancelScope()
        self._busy = 0
        self._bytes = 0
        self._agent: Agent | None = None
        self._flood = anyio.Event()

    @property
    def limit(self) -> TimeLimit:
        """The time limit, for others who put it off."""
        return self._scope

    def frame(self, direction: str, frame: bytes) -> None:
        """Note a message."""
        if direction == "in":
            self._bytes += len(frame)
            if self._bytes > MOST_BYTES or (self._agent is not None and self._agent.unheard > MOST_UNHEARD):
                self._flood.set()
        self._put_off()

    @contextmanager
    def waiting(self) -> Generator[None]:
        """The program waits for us in the block, perhaps for a person."""
        self._busy += 1
        self._put_off()
        try:
            yield
        finally:
            self._busy -= 1
            self._put_off()

    async def failure(self, agent: Agent) -> AgentProgramFailed:
        """Wait until the program has to be ended; returns why."""
        self._agent = agent
        self._put_off()
        with self._scope:
            await self._flood.wait()
        if self._flood.is_set():
            return flooding(self._program, "more than can be handled")
        return silent(self._program)

    def _put_off(self) -> None:
        self._scope.deadline = math.inf if self._busy else anyio.current_time() + self._program.timeout
