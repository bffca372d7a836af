"""The gate of one command: decides about destinations, connects to permitted ones, and keeps what was refused."""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import SocketStream

from claw_acp.net.proxy.counted_stream import CountedStream
from claw_acp.net.proxy.destination import Destination, is_address
from claw_acp.net.proxy.limits import Limits
from claw_acp.net.proxy.outward import Resolve, dial
from claw_acp.net.proxy.refusal import Refusal, blocked
from claw_acp.net.proxy.verdict import Decide, NetworkRecord, Record, Verdict

log = logging.getLogger(__name__)

NO_ANSWER = "Nobody decided in time whether it may be reached."
ONLY_NAMES = "rules are about names, so only hosts with a name can be reached."
TOO_MANY = "It has tried to reach too many hosts."


class Gate:
    """Decides once for each destination, however many connections wait for it.

    Args:
        decide: Decides about a destination.
        record: Keeps a line for each connection and refusal.
        resolve: Looks up names.
        limits: Limits.
    """

    def __init__(self, decide: Decide, record: Record, *, resolve: Resolve, limits: Limits) -> None:
        self._decide = decide
        self._record = record
        self._resolve = resolve
        self._limits = limits
        self._decided: dict[Destination, Verdict] = {}
        self._deciding: dict[Destination, anyio.Event] = {}
        self.refused: dict[NetworkRecord, None] = {}
        """The refusals, each once, as they came."""

    async def admit(self, destination: Destination) -> Verdict:
        """The verdict on a destination that may be reached; addresses may not.

        Raises:
            Refusal: It may not.
        """
        if is_address(destination.host):
            verdict = Verdict(allowed=False, reason=f"{destination.host} is an address; {ONLY_NAMES}")
        else:
            verdict = await self._verdict(destination)
        if not verdict.allowed:
            await self.refuse(destination, verdict)
            raise blocked(verdict)
        return verdict

    async def refuse(self, destination: Destination, verdict: Verdict) -> None:
        """Record a refusal, once for all attempts: programs try again and again."""
        record = NetworkRecord(
            outcome="refused", destination=destination, rule=verdict.rule, remedy=verdict.remedy, reason=verdict.reason
        )
        if record not in self.refused and len(self.refused) < self._limits.hosts:
            self.refused[record] = None
            await self._keep(record)

    @asynccontextmanager
    async def connection(self, destination: Destination, verdict: Verdict) -> AsyncGenerator[CountedStream]:
        """A connection to a permitted destination, recorded before it is made and when it has ended.

        Raises:
            Refusal: It leads to a private network, or does not answer.
        """
        await self._keep(NetworkRecord(outcome="allowed", destination=destination, rule=verdict.rule))
        stream: CountedStream | None = None
        try:
            async with await self._dialled(destination, verdict) as dialled:
                stream = CountedStream(dialled)
                yield stream
        finally:
            sent, received = (stream.sent, stream.received) if stream else (0, 0)
            ended = NetworkRecord(
                outcome="ended", destination=destination, rule=verdict.rule, sent=sent, received=received
            )
            with anyio.move_on_after(self._limits.last_record, shield=True):
                await self._keep(ended)

    async def _dialled(self, destination: Destination, verdict: Verdict) -> SocketStream:
        try:
            return await dial(destination, verdict, resolve=self._resolve, limits=self._limits)
        except Refusal as refusal:
            if refusal.verdict is not None:
                await self.refuse(destination, refusal.verdict)
            raise

    async def _verdict(self, destination: Destination) -> Verdict:
        """The decision about a destination: made once, and remembered."""
        while destination in self._deciding:
            await self._deciding[destination].wait()
        if destination not in self._decided and len(self._decided) >= self._limits.hosts:
            return Verdict(allowed=False, reason=TOO_MANY)
        if destination not in self._decided:
            self._deciding[destination] = anyio.Event()
            try:
                self._decided[destination] = await self._asked(destination)
            finally:
                self._deciding.pop(destination).set()
        return self._decided[destination]

    async def _asked(self, destination: Destination) -> Verdict:
        with anyio.move_on_after(self._limits.question):
            return await self._decide(destination)
        return Verdict(allowed=False, remedy=destination.rule, reason=NO_ANSWER)

    async def _keep(self, record: NetworkRecord) -> None:
        log.info(
            "connection of a command",
            extra={
                "outcome": record.outcome,
                "host": record.destination.host,
                "port": record.destination.port,
                "rule": record.rule,
                "reason": record.reason,
                "sent": record.sent,
                "received": record.received,
            },
        )
        await self._record(record)
