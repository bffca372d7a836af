"""Visits: what is served over a longer time ends together with the token that it was begun with."""

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import anyio
from anyio import to_thread

from claw_acp.core.clock import Clock
from claw_acp.core.value import Record
from claw_acp.gateway.access.token_store import StoredToken, TokenStore
from claw_acp.registry.reference import Ref

if TYPE_CHECKING:
    from claw_acp.schedule.wake import SystemWake

log = logging.getLogger(__name__)

WAKE: Final["Ref[type[SystemWake]]"] = Ref("claw_acp.schedule.wake:SystemWake")


class _Visit(Record):
    token: StoredToken
    leave: Callable[[], None]
    ended: bool = False


class Visits:
    """The visits of one server by holders of stored tokens.

    Args:
        tokens: The tokens.
        clock: Time.
    """

    def __init__(self, tokens: TokenStore, *, clock: Clock) -> None:
        self._tokens = tokens
        self._clock = clock
        self._open: list[_Visit] = []
        self._news = anyio.Event()
        self._wake: SystemWake | None = None

    @contextmanager
    def during(self, token: StoredToken, leave: Callable[[], None]) -> Generator[None]:
        """Have `leave` called if the token is removed or expires during the block."""
        visit = _Visit(token=token, leave=leave)
        self._open.append(visit)
        self._news.set()
        if self._wake is not None:
            self._wake.now()
        try:
            yield
        finally:
            self._open.remove(visit)

    async def watch(self) -> None:
        """End visits when their time has come, until cancelled. Without visits nothing is watched."""
        while True:
            while not self._open:
                self._news = anyio.Event()
                await self._news.wait()
            kind = await to_thread.run_sync(WAKE.load)
            async with kind.opened([self._tokens.file], clock=self._clock) as wake:
                self._wake = wake
                try:
                    while self._open:
                        self._end_those_without_token()
                        await wake.wait(self._next_end())
                finally:
                    self._wake = None

    def _next_end(self) -> float | None:
        tokens = [visit.token for visit in self._open if not visit.ended]
        return min((token.expires_at for token in tokens if token.expires_at is not None), default=None)

    def _end_those_without_token(self) -> None:
        for visit in self._open:
            if not visit.ended and not self._tokens.is_valid(visit.token):
                log.warning("a client is sent away: its token has ended", extra={"client": visit.token.name})
                visit.ended = True
                visit.leave()
