"""The network of a confined command: a proxy that asks about addresses which no rule is about."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup, TaskStatus

from claw_acp.contracts.launch import CommandNetwork, Confinement, Launch, TimeLimit
from claw_acp.net.proxy.entrance import Entrance
from claw_acp.net.proxy.network_proxy import NetworkProxy
from claw_acp.net.proxy.verdict import Record
from claw_acp.security.network_access import NetworkAccess
from claw_acp.security.rules import Rule
from claw_acp.security.verdicts import Decision


class ProxiedNetwork:
    """See `CommandNetwork`. Made by `opened`."""

    def __init__(self, entrance: Entrance) -> None:
        self.limits: list[TimeLimit] = []
        self._entrance = entrance
        self._programs = 0
        self._closing = False
        self.over = anyio.Event()

    @property
    def socket(self) -> Path:
        """The Unix socket for the profile."""
        return self._entrance.socket

    def refusals(self) -> str:
        """See `CommandNetwork`."""
        return self._entrance.refusals_told()

    def end(self) -> None:
        """See `CommandNetwork`."""
        self._closing = True
        self._look()

    def used_by(self, confinement: Confinement) -> Confinement:
        """The confinement of a program that uses it until it is released."""
        self._programs += 1
        return _Using(confinement, self)

    def left(self) -> None:
        """One program uses it no more."""
        self._programs -= 1
        self._look()

    async def asked(self, ask: Callable[[Decision], Awaitable[bool]], decision: Decision) -> bool:
        """Ask, while the time limits stand still."""
        now = anyio.current_time()
        left = [(limit, limit.deadline - now) for limit in self.limits]
        for limit in self.limits:
            limit.deadline = float("inf")
        try:
            return await ask(decision)
        finally:
            for limit, seconds in left:
                limit.deadline = anyio.current_time() + seconds

    def _look(self) -> None:
        if self._closing and not self._programs:
            self.over.set()


class _Using:
    def __init__(self, confinement: Confinement, network: ProxiedNetwork) -> None:
        self._confinement = confinement
        self._network: ProxiedNetwork | None = network

    def __call__(self, launch: Launch) -> Launch:
        return self._confinement(launch)

    def release(self) -> None:
        self._confinement.release()
        network, self._network = self._network, None
        if network is not None:
            network.left()


async def opened(
    proxy: NetworkProxy,
    *,
    tasks: TaskGroup,
    rules: Sequence[Rule],
    ask: Callable[[Decision], Awaitable[bool]],
    record: Record,
) -> ProxiedNetwork:
    """A network for one command, served by a task of its own.

    Args:
        proxy: The proxy.
        tasks: Runs the task.
        rules: The rules in force.
        ask: Asks a person about an address that no rule is about.
        record: Keeps a record of each connection.
    """
    serve = partial(_serve, proxy, rules, ask, record)
    network: ProxiedNetwork = await tasks.start(serve, name="network of a command")
    return network


async def _serve(
    proxy: NetworkProxy,
    rules: Sequence[Rule],
    ask: Callable[[Decision], Awaitable[bool]],
    record: Record,
    *,
    task_status: TaskStatus[ProxiedNetwork],
) -> None:
    made: list[ProxiedNetwork] = []

    async def asked(decision: Decision) -> bool:
        return await made[0].asked(ask, decision)

    async with proxy.entrance(NetworkAccess(rules, ask=asked).decide, record=record) as entrance:
        made.append(network := ProxiedNetwork(entrance))
        task_status.started(network)
        await network.over.wait()


if TYPE_CHECKING:
    _conforms: type[CommandNetwork] = ProxiedNetwork
